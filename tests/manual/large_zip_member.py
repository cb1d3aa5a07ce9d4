#!/usr/bin/env python3
"""Writes a member above 4 GiB into a zip archive, and lets Python and Info-ZIP look at it. By hand, as it writes 8 GiB:

    tests/manual/large_zip_member.py FOLDER [SHERD]     FOLDER needs 9 GiB, and is left as it was
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

SIZE = 2**32 + 2


def main(folder, sherd="sherd"):
    with tempfile.TemporaryDirectory(dir=folder) as name:
        here = pathlib.Path(name)
        (here / "objects").mkdir()
        with open(here / "objects/large", "wb") as file:  # sparse
            file.write(b"a")
            file.seek(SIZE - 1)
            file.write(b"z")
        (here / "objects/small").write_bytes(b"text")
        start = time.monotonic()
        subprocess.run([sherd, "copy", "--raw", here / "objects", here / "a.zip"], check=True)
        print(f"written, read back and compared in {time.monotonic() - start:.1f} s")
        with zipfile.ZipFile(here / "a.zip") as archive:
            sizes = {each.filename: each.file_size for each in archive.infolist()}
            assert sizes == {"large": SIZE, "small": 4}, sizes
            assert archive.read("small") == b"text"
            with archive.open("large") as member:  # the end of the file compares the checksum
                assert member.read(1) == b"a"
                last = b""
                while block := member.read(1 << 24):
                    last = block
            assert last.endswith(b"z")
        if shutil.which("unzip"):
            subprocess.run(["unzip", "-t", "-q", here / "a.zip"], check=True)
    print("a member of", SIZE, "bytes is read by Python's zipfile and by Info-ZIP")


if __name__ == "__main__":
    main(*sys.argv[1:])
