"""What a failed operation has left in a bucket, and whether `check` lists it: interop/remote_faults_test.py."""

import subprocess

import sherd
from cli.conftest import BINARY

# Faults of a group's documents: a message names the member that a document leaves out, or says that documents differ.
OF_MEMBERS = ("member_list", "consolidated_stale")


class Leftovers:
    """Of operations at URLs in one bucket. `options` reach the server without faults."""

    def __init__(self, client, bucket, options):
        self.client, self.bucket, self.options = client, bucket, options

    def keys(self, url):
        """The objects below a URL, relative to it."""
        below = self._below(url)
        listed = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=below)
        return {each["Key"].removeprefix(below) for page in listed for each in page.get("Contents", [])}

    def uploads(self, url=None):
        """The objects below a URL, or in the bucket, whose uploads in parts have begun and not ended: one for each of them."""
        below = "" if url is None else self._below(url)
        listed = self.client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", [])
        return [each["Key"].removeprefix(below) for each in listed if each["Key"].startswith(below)]

    def check(self, url, left, has_lists=False):
        """`check` lists each object that is left, or the claim of its node, or names its node; and each upload; and nothing
        else, except documents that differ, if groups have lists of members. Returns what is left."""
        left = left | set(self.uploads(url))
        unnamed = set(left)
        for fault in self._faults(url):
            about = {key for key in left if _is_about(fault, key)}
            assert about or (has_lists and fault["code"] in OF_MEMBERS), (fault, left)
            unnamed -= about
        assert not unnamed, (unnamed, left)
        return left

    def has_probe(self, url):
        return any(key.startswith(".sherd-probe-") for key in self.keys(url))

    def is_node(self, url):
        try:
            sherd.open(url, storage_options=self.options)
        except sherd.NotFound:
            return False
        return True

    def repair(self, url):
        """`check --repair` removes uploads, unless a process may be at work there."""
        if not self.uploads(url) or any(each["code"] == "node_claimed" for each in self._faults(url)):
            return
        repaired = sherd.repair(url, storage_options=self.options)["repaired"]
        assert {each["action"] for each in repaired} == {"upload_removed"} and not self.uploads(url), repaired

    def remove(self, url, stays):
        """`rm` removes the node with what is left of it, except `stays`."""
        given = [word for name, value in self.options.items() for word in ("--store-option", f"{name}={value}")]
        ran = subprocess.run([BINARY, "rm", "--recursive", url, *given], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        assert self.keys(url) <= stays and not self.uploads(url), (self.keys(url), self.uploads(url))

    def _below(self, url):
        return url.removeprefix(f"s3://{self.bucket}/") + "/"

    def _faults(self, url):
        try:
            return sherd.check(url, storage_options=self.options)["faults"]
        except sherd.NotFound:
            return []


def _is_about(fault, key):
    if fault["code"] == "node_claimed":
        return key.startswith(fault["key"].rpartition(".sherd-new-")[0])
    if fault["code"] in OF_MEMBERS:
        return f"'{key.rpartition('/')[0]}'" in fault["message"]
    return fault["key"] == key
