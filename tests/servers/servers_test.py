"""That each server does what the tests of remote stores rely on.

What a GET with `If-Match` answers, with and without a range:

| If-Match            | radosgw 16.2 | Swift 2.30 | SeaweedFS 4.48 | nginx 1.22 | fake-gcs-server |
|---------------------|--------------|------------|----------------|------------|-----------------|
| right, quoted       | 200          | 200        | 200            | 200        | 200             |
| right, without "    | 200          | 200        | 200            | 412        | 200             |
| wrong, either way   | 412          | 412        | 412            | 412        | 200 (ignored)   |
| *                   | 412          | 200        | 200            | 200        | 200             |
| W/"right"           | 412          | 412        | 412            | 412        | 200             |

So a quoted ETag is right for each of them, although radosgw wants it unquoted on PUT. fake-gcs-server also ignores
If-None-Match and x-goog-if-generation-match; it honours `?generation=N`, with 404 for another generation. It has no pages of
lists: it ignores max-keys.
"""

import base64
import dataclasses
import gzip
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request

import pytest
from servers.fixtures import RUN
from servers.process import wait_for_end
from servers.shared import TESTS

SOME = {"Range": "bytes=2-4"}


def test_nginx_serves_ranges_of_a_file(nginx):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "a/k", b"0123456789")
    whole = nginx.get(bucket, "a/k")
    assert (whole.status, whole.body) == (200, b"0123456789")
    assert whole.headers["etag"] and whole.headers["last-modified"]
    part = nginx.get(bucket, "a/k", SOME)
    assert (part.status, part.body, part.headers["content-range"]) == (206, b"234", "bytes 2-4/10")
    assert nginx.get(bucket, "a/k", {"Range": "bytes=-3"}).body == b"789"
    assert nginx.get(bucket, "a/k", {"Range": "bytes=10-"}).status == 416
    assert nginx.get(bucket, "b").status == 404


def test_nginx_serves_over_https_with_its_own_certificate(nginx):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "k", b"secret")
    context = ssl.create_default_context(cafile=nginx.more["certificate"])
    with urllib.request.urlopen(nginx.at(bucket, "k", scheme="https"), context=context) as reply:
        assert reply.read() == b"secret"


def test_nginx_wants_what_each_location_says(nginx):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "k", b"0123456789")
    basic = base64.b64encode(f"{nginx.more['user']}:{nginx.more['password']}".encode()).decode()
    for location, right in (("basic", f"Basic {basic}"), ("bearer", f"Bearer {nginx.more['token']}")):
        assert nginx.get(bucket, "k", location=location).status == 401
        assert nginx.get(bucket, "k", {"Authorization": right[:-2]}, location).status == 401
        assert nginx.get(bucket, "k", {"Authorization": right}, location).body == b"0123456789"


def test_nginx_has_locations_that_are_hard_on_readers(nginx):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "k", b"0123456789" * 100)
    assert nginx.get(bucket, "k", SOME, "no-ranges").status == 200
    packed = nginx.get(bucket, "k", {"Accept-Encoding": "gzip"}, "gzip")
    assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < 100
    encoded = nginx.get(bucket, "k", SOME, "encoded")
    assert (encoded.status, encoded.headers["content-encoding"]) == (206, "gzip")
    bare = nginx.get(bucket, "k", SOME, "no-validators")
    assert bare.status == 206 and not {"etag", "last-modified"} & set(bare.headers)


def test_nginx_redirects_to_several_places(nginx):
    targets = {"moved": "/plain/x?q=1", "elsewhere": f"http://localhost:{nginx.port}/bearer/x?q=1",
               "downgraded": f"{nginx.url}/plain/x?q=1", "metadata": "http://169.254.169.254/x?q=1", "loop": "/loop/x?q=1"}
    for location, target in targets.items():
        reply = nginx.send("GET", f"/{location}/x?q=1")
        assert (reply.status, reply.headers["location"]) == (302, target)


def test_nginx_reports_the_requests_it_has_answered(nginx):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "k", b"0123456789")
    nginx.get(bucket, "k", SOME)
    own = [each for each in nginx.requests() if bucket in each["target"]]
    assert [(each["method"], each["status"], each["sent"], each["range"]) for each in own] == [("GET", 206, 3, "bytes=2-4")]


def test_a_server_is_shared_by_a_run(radosgw):
    command = [sys.executable, "-m", "servers", "radosgw", "--share", os.environ[RUN].rsplit("-", 1)[1]]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(TESTS)}, capture_output=True, text=True)
    assert json.loads(done.stdout)["radosgw"] == dataclasses.asdict(radosgw)


def test_an_s3_server_answers_ranges(s3):
    bucket = s3.create_bucket()
    s3.put(bucket, "a/k", b"0123456789")
    assert s3.get(bucket, "a/k").body == b"0123456789"
    for wanted, part, place in (("2-4", b"234", "2-4"), ("-3", b"789", "7-9"), ("-50", b"0123456789", "0-9"), ("8-99", b"89", "8-9")):
        reply = s3.get(bucket, "a/k", {"Range": f"bytes={wanted}"})
        assert (reply.status, reply.body, reply.headers["content-range"]) == (206, part, f"bytes {place}/10")
    assert s3.get(bucket, "a/k", {"Range": "bytes=10-"}).status == 416
    assert s3.get(bucket, "nope").status == 404


def test_a_range_of_an_empty_object_is_refused_or_ignored(s3):
    bucket = s3.create_bucket()
    s3.put(bucket, "k", b"")
    reply = s3.get(bucket, "k", {"Range": "bytes=-5"})
    assert reply.status == (200 if s3.name == "swift" else 416)


@pytest.mark.parametrize("headers", [{}, SOME], ids=["whole", "range"])
def test_an_s3_server_compares_the_etag_of_a_get(s3, headers):
    bucket = s3.create_bucket()
    etag = s3.put(bucket, "k", b"0123456789")
    right = 206 if headers else 200
    for value, status in ((etag, right), (etag.strip('"'), right), ('"' + "0" * 32 + '"', 412), ("0" * 32, 412),
                          ("*", 412 if s3.name == "radosgw" else right), (f"W/{etag}", 412)):
        assert s3.get(bucket, "k", headers | {"If-Match": value}).status == status, value
    assert s3.get(bucket, "k", {"If-None-Match": etag}).status == 304


@pytest.mark.parametrize("headers", [{}, SOME], ids=["whole", "range"])
def test_nginx_compares_the_etag_of_a_get(nginx, headers):
    bucket = nginx.create_bucket()
    nginx.put(bucket, "k", b"0123456789")
    etag = nginx.get(bucket, "k").headers["etag"]
    right = 206 if headers else 200
    for value, status in ((etag, right), (etag.strip('"'), 412), ('"0-a"', 412), ("*", right), (f"W/{etag}", 412)):
        assert nginx.get(bucket, "k", headers | {"If-Match": value}).status == status, value


def test_an_s3_server_lists_pages_and_folders(s3):
    bucket = s3.create_bucket()
    keys = ["a/b/c", "a/k", "a/k2", "empty", "sp ace+plus%25 ~!()'*=:@", "uni-é/日本", "z"]
    s3.put_many(bucket, {key: b"x" for key in keys})
    client = s3.client()
    for size in (2, 1000):
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, PaginationConfig={"PageSize": size})
        assert [each["Key"] for page in pages for each in page.get("Contents", [])] == keys
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Delimiter="/", PaginationConfig={"PageSize": 2})
    pages = list(pages)
    assert len(pages) > 1
    assert [each["Prefix"] for page in pages for each in page.get("CommonPrefixes", [])] == ["a/", "uni-é/"]
    assert [each["Key"] for page in pages for each in page.get("Contents", [])] == ["empty", keys[4], "z"]


def test_an_s3_server_checks_signatures(s3):
    bucket = s3.create_bucket()
    s3.put(bucket, "k", b"private")
    assert s3.get(bucket, "k", secret="another").status == 403
    assert s3.get(bucket, "k", anonymous=True).status == (400 if s3.name == "swift" else 403)
    target = f"/{bucket}?list-type=2&prefix=" + urllib.parse.quote("a b+c", safe="")
    assert s3.request("GET", target).status == 200


def test_radosgw_lets_anyone_read_what_is_public(radosgw):
    bucket = radosgw.create_bucket()
    radosgw.put(bucket, "k", b"public", {"x-amz-acl": "public-read"})
    assert radosgw.get(bucket, "k", SOME, anonymous=True).body == b"bli"


def test_radosgw_knows_virtual_hosts(radosgw):
    bucket = radosgw.create_bucket()
    radosgw.put(bucket, "k", b"public", {"x-amz-acl": "public-read"})
    reply = radosgw.send("GET", "/k", headers={"Host": f"{bucket}.localhost:{radosgw.port}"})
    assert (reply.status, reply.body) == (200, b"public")


def test_fake_gcs_answers_ranges_and_lists(fake_gcs):
    bucket = fake_gcs.create_bucket()
    generation = fake_gcs.put(bucket, "a/k", b"0123456789")
    fake_gcs.put(bucket, "z", b"")
    reply = fake_gcs.get(bucket, "a/k", {"Range": "bytes=-3"})
    assert (reply.status, reply.body, reply.headers["content-range"]) == (206, b"789", "bytes 7-9/10")
    assert reply.headers["x-goog-generation"] == generation
    assert fake_gcs.get(bucket, "a/k", {"Range": "bytes=10-"}).status == 416
    assert fake_gcs.get(bucket, "b").status == 404
    assert fake_gcs.get(bucket, "a/k", {"If-Match": '"wrong"'}).status == 200
    assert fake_gcs.send("GET", f"/{bucket}/a/k?generation=1").status == 404
    listed = fake_gcs.send("GET", f"/{bucket}?list-type=2&delimiter=%2F").body
    assert b"<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>" in listed and b"<Key>z</Key>" in listed


def test_fake_gcs_decodes_what_is_stored_compressed(fake_gcs):
    bucket, packed = fake_gcs.create_bucket(), gzip.compress(b"hello" * 10)
    fake_gcs.put(bucket, "k", packed, {"Content-Encoding": "gzip"})
    assert fake_gcs.get(bucket, "k", {"Accept-Encoding": "identity"}).body == b"hello" * 10
    part = fake_gcs.get(bucket, "k", {"Accept-Encoding": "gzip", "Range": "bytes=0-3"})
    assert (part.status, part.headers["content-encoding"], part.body) == (206, "gzip", packed[:4])
    assert fake_gcs.get(bucket, "k", {"Range": "bytes=0-3"}).status == 200


def start_program():
    process = subprocess.Popen([sys.executable, "-m", "servers", "nginx"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env=os.environ | {"PYTHONPATH": str(TESTS)})
    return process, json.loads(process.stdout.readline())["nginx"]


def test_programs_in_other_languages_start_servers_and_fill_buckets(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/k").write_bytes(b"0123456789")
    process, server = start_program()
    process.stdin.write(json.dumps({"server": "nginx", "folder": str(tmp_path)}) + "\n")
    process.stdin.flush()
    bucket = json.loads(process.stdout.readline())["bucket"]
    with urllib.request.urlopen(f"{server['url']}/plain/{bucket}/a/k") as reply:
        assert reply.read() == b"0123456789"
    process.stdin.close()
    process.stdout.close()
    assert process.wait() == 0
    assert not os.path.exists(server["folder"])


def test_servers_end_when_what_started_them_is_killed():
    process, server = start_program()
    master = os.pidfd_open(int((pathlib.Path(server["folder"]) / "nginx.pid").read_text()))
    process.kill()
    process.communicate()
    wait_for_end(master)
    os.close(master)
    shutil.rmtree(server["folder"])
