"""Writes bytes_codecs.tsv: encodings by other implementations, one a line.

    python3 -m venv venv && venv/bin/pip install numcodecs==0.16.6 zstandard==0.25.0
    venv/bin/python make_bytes_codecs.py

Columns: what wrote it, the codec's name, its configuration, the decoded bytes, the encoded bytes (both in hex).
"""
import gzip
import io
import json
import pathlib
import zlib

import numcodecs
import numpy
import zstandard

INPUTS = [b"", b"\x07", bytes(range(101)), b"sharded " * 40 + b"!", bytes(i * i % 251 for i in range(722))]
rows = []


def add(writer, name, configuration, decoded, encoded):
    rows.append([writer, name, json.dumps(configuration), decoded.hex(), bytes(encoded).hex()])


def add_numcodecs(name, configuration, **arguments):
    codec = numcodecs.get_codec({"id": name.removeprefix("numcodecs."), **configuration, **arguments})
    for decoded in INPUTS:
        if decoded:
            encoded = codec.encode(numpy.frombuffer(decoded, "u1"))
            add("numcodecs", name, configuration, decoded, encoded if isinstance(encoded, bytes) else encoded.tobytes())


def gzip_member(decoded, level=5, **header):
    file = io.BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=level, mtime=0, **header) as member:
        member.write(decoded)
    return file.getvalue()


for level in (0, 1, 9):
    for decoded in INPUTS:
        add("python gzip", "gzip", {"level": level}, decoded, gzip_member(decoded, level))
for decoded in INPUTS[2:]:
    half = len(decoded) // 2
    add("python gzip, 3 members", "gzip", {"level": 5}, decoded,
        gzip_member(decoded[:half], filename="name") + gzip_member(b"") + gzip_member(decoded[half:], 9))
for level in (-1, 0, 1, 9):
    for decoded in INPUTS:
        add("python zlib", "numcodecs.zlib", {"level": level}, decoded, zlib.compress(decoded, level))

for configuration in ({"level": 1, "checksum": False}, {"level": 22, "checksum": True}, {"level": -7, "checksum": True}):
    add_numcodecs("numcodecs.zstd", configuration)
for decoded in INPUTS:
    stream = zstandard.ZstdCompressor(level=3, write_content_size=False).compress(decoded)
    add("zstandard, no content size", "zstd", {"level": 3, "checksum": False}, decoded, stream)
    half = len(decoded) // 2
    first = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(decoded[:half])
    last = zstandard.ZstdCompressor(level=9).compress(decoded[half:])
    skipped = b"\x5a\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    add("zstandard, 2 frames and skippable ones", "zstd", {"level": 3, "checksum": False}, decoded,
        skipped + first + skipped + last + skipped)

add_numcodecs("numcodecs.crc32", {})
add_numcodecs("numcodecs.crc32", {"location": "end"})
add_numcodecs("numcodecs.adler32", {})
add_numcodecs("numcodecs.adler32", {"location": "end"})
add_numcodecs("numcodecs.fletcher32", {})
add_numcodecs("numcodecs.crc32c", {"location": "start"})
for name in ("crc32c", "numcodecs.crc32c"):
    codec = numcodecs.get_codec({"id": "crc32c"})
    for decoded in INPUTS[1:]:
        add("numcodecs", name, {}, decoded, codec.encode(numpy.frombuffer(decoded, "u1")).tobytes())

path = pathlib.Path(__file__).with_name("bytes_codecs.tsv")
path.write_text("".join("\t".join(row) + "\n" for row in rows))
