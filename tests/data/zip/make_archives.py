#!/usr/bin/python3
"""Makes the archives here with Python's zipfile and Info-ZIP's zip 3.0; run it in this folder. The tests know what is in them.

Each has some of: a.txt = "stored stored stored\n", b.txt = 1000 times "deflated ", c/d.bin = 256 bytes 0 … 255.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path.cwd()
FILES = {"a.txt": b"stored stored stored\n", "b.txt": b"deflated " * 1000, "c/d.bin": bytes(range(256))}
WHEN = (2020, 2, 3, 4, 5, 6)


def info(name, method=zipfile.ZIP_STORED):
    made = zipfile.ZipInfo(name, WHEN)
    made.compress_type = method
    return made


def python_archive(name, *, names=FILES, method=zipfile.ZIP_DEFLATED, comment=b"", prefix=b"", zip64=False):
    path = HERE / name
    path.write_bytes(prefix)
    with zipfile.ZipFile(path, "a") as archive:
        for each in names:
            one = info(each, zipfile.ZIP_STORED if each == "a.txt" else method)
            with archive.open(one, "w", force_zip64=zip64) as member:
                member.write(FILES[each])
        archive.comment = comment


def streamed(name):
    """Written to a pipe, so sizes follow the data."""
    read, write = os.pipe()
    with os.fdopen(write, "wb") as to, zipfile.ZipFile(to, "w") as archive:
        for each, content in FILES.items():
            archive.writestr(info(each, zipfile.ZIP_STORED if each == "a.txt" else zipfile.ZIP_DEFLATED), content)
    with os.fdopen(read, "rb") as stream:
        (HERE / name).write_bytes(stream.read())


def info_zip(name, *options, setup=lambda: None, stdin=None):
    with tempfile.TemporaryDirectory() as folder:
        for each, content in FILES.items():
            path = pathlib.Path(folder, each)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
            os.utime(path, (1580702706, 1580702706))
        os.chdir(folder)
        setup()
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        (HERE / name).unlink(missing_ok=True)
        if "-" in options:
            made = subprocess.run(["zip", "-q", "-r", *options, "."], env=environment, check=True, stdout=subprocess.PIPE)
            (HERE / name).write_bytes(made.stdout)
        else:
            subprocess.run(["zip", "-q", "-r", HERE / name, ".", *options], env=environment, check=True)
        os.chdir(HERE)


def duplicates():
    with zipfile.ZipFile(HERE / "python_duplicates.zip", "w") as archive:
        for text in ("first", "second", "the last"):
            archive.writestr(info("a.txt"), text)
        archive.writestr(info("b.txt"), "b")


def names():
    with zipfile.ZipFile(HERE / "python_names.zip", "w") as archive:
        for name in ("é", "日本/語", "a b", "x\ny", "%2e%2e", "-rf"):
            archive.writestr(info(name), name)
        directory = zipfile.ZipInfo("empty/", WHEN)
        archive.writestr(directory, b"")


def odd_names():
    for name in ("é", "日本", "back\\slash", "a b"):
        pathlib.Path(name).write_text(name)


def main():
    python_archive("python.zip")
    python_archive("python_comment.zip", comment=b"about it")
    python_archive("python_prefix.zip", prefix=b"#!/bin/sh\nexit 1\n" * 3)
    python_archive("python_zip64.zip", zip64=True)
    python_archive("python_lzma.zip", method=zipfile.ZIP_LZMA)
    streamed("python_streamed.zip")
    duplicates()
    names()
    info_zip("info_zip.zip")
    info_zip("info_zip_no_directories.zip", "-D", "-X", "-0")
    info_zip("info_zip_streamed.zip", "-")
    info_zip("info_zip_names.zip", setup=odd_names)
    info_zip("info_zip_link.zip", "-y", setup=lambda: os.symlink("/etc/passwd", "link"))
    info_zip("info_zip_encrypted.zip", "-P", "secret")
    # As `cat program archive`: offsets count from the archive's own beginning.
    (HERE / "info_zip_prefix.zip").write_bytes(b"program" * 100 + (HERE / "info_zip.zip").read_bytes())


if __name__ == "__main__":
    sys.exit(main())
