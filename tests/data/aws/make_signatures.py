"""Writes signatures.jsonl.gz: 5,000 requests as botocore signs them, one JSON array per line.

Each is [method, endpoint, key, query, headers, credentials, region, service, seconds, payload, url, authorization]. The
key and the query (pairs of a name and a value, or null) are not encoded; `url` is what botocore makes of them.
`credentials` are a key id, a secret key and a session token (may be empty); `seconds` count from 1970; `payload` is a
body, or null for UNSIGNED-PAYLOAD; `authorization` is the header's text after the credential's scope.

    python3 -m venv venv && venv/bin/pip install botocore==1.44.5
    venv/bin/python make_signatures.py
"""

import datetime
import gzip
import json
import pathlib
import random
from unittest import mock

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.utils import percent_encode

COUNT = 5000
PRINTABLE = "".join(chr(code) for code in range(0x20, 0x7F))
CONTROL = "".join(chr(code) for code in [*range(1, 0x20), 0x7F])
OTHERS = "äßñéÅ中文字日本語кириллица🙂👩\u0301\u200d\u00a0\ufeff\U0010ffff"
ENDPOINTS = [
    "https://examplebucket.s3.us-east-1.amazonaws.com/",
    "https://s3.eu-central-1.amazonaws.com/a.bucket/",
    "http://127.0.0.1:9000/bucket/",
    "http://localhost:80/b/",
    "https://storage.example.org:443/prefix/b/",
    "https://storage.example.org:8443/b/",
    "https://[fd00::1]:7480/b/",
    "https://[fd00::1]/b/",
]
REGIONS = ["us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1", "auto", "RegionOne"]
SUBRESOURCES = ["uploads", "acl", "versioning", "location", "tagging", "partNumber", "uploadId", "versionId"]


def text(draw, alphabet, longest):
    return "".join(draw.choices(alphabet, k=draw.randint(0, longest)))


def make_key(draw):
    kind = draw.randrange(6)
    if kind == 0:
        return "".join(draw.choice(["..", ".", "/", "//", "a", "%2F", "%", "+", " ", "c/0/1", "~"]) for _ in range(8))
    if kind == 1:
        return text(draw, OTHERS, 8)
    if kind == 2:
        return text(draw, CONTROL + "/a", 8)
    if kind == 3:
        return draw.choice(["", "/", "vol.zarr/c/0/0/0", "a/zarr.json", "/leading", "trailing/", "a?b", "a#b", "a=b&c=d"])
    return text(draw, PRINTABLE, 24)


def make_query(draw):
    if draw.randrange(3) == 0:
        return []
    if draw.randrange(3) == 0:
        query = [["list-type", "2"], ["prefix", make_key(draw)], ["delimiter", "/"]]
        if draw.randrange(2):
            query += [["continuation-token", text(draw, PRINTABLE, 30)], ["max-keys", str(draw.randint(1, 1000))]]
        return draw.sample(query, len(query))
    query = [[name, draw.choice([None, "", make_key(draw)])] for name in draw.sample(SUBRESOURCES, draw.randint(1, 3))]
    if draw.randrange(3) == 0:  # the same name twice; names that differ only when they are encoded
        query += [[query[0][0], text(draw, PRINTABLE, 6)], [text(draw, PRINTABLE + OTHERS, 4), text(draw, OTHERS, 3)]]
    return query


def make_headers(draw):
    start, spaces = draw.randrange(1 << 40), draw.choice([" ", "  ", " \t ", "   "])
    choices = [
        ["Range", f"bytes={start}-{start + draw.randrange(1 << 20)}"],
        ["range", f"bytes=-{draw.randrange(1, 1 << 16)}"],
        ["If-Match", f'"{draw.getrandbits(128):032x}"'],
        ["If-None-Match", "*"],
        ["x-amz-request-payer", "requester"],
        ["x-amz-meta-a", f"{spaces}a{spaces}b{spaces}"],
        ["X-Amz-Meta-A-B", text(draw, PRINTABLE, 12).strip()],
        ["x-amz-meta-a", "again"],
        ["Content-Type", "application/octet-stream"],
        ["Accept-Encoding", "identity"],
        ["User-Agent", "sherd"],
        ["Expect", "100-continue"],
        ["TE", "trailers"],
    ]
    return draw.sample(choices, draw.choice([0, 1, 1, 2, 4]))


def encoded_url(endpoint, key, query):
    pairs = [percent_encode(name) + ("" if value is None else "=" + percent_encode(value)) for name, value in query]
    return endpoint + percent_encode(key, safe="/~") + ("?" + "&".join(pairs) if pairs else "")


def make_request(draw):
    service = draw.choices(["s3", "sts"], [12, 1])[0]
    method = draw.choice(["GET", "GET", "GET", "HEAD", "PUT", "POST", "DELETE"]) if service == "s3" else "POST"
    endpoint = draw.choice(ENDPOINTS) if service == "s3" else "https://sts.eu-central-1.amazonaws.com/"
    key, query = (make_key(draw), make_query(draw)) if service == "s3" else ("", [])
    body = text(draw, PRINTABLE + OTHERS, 12) if method in ("PUT", "POST") else ""
    is_signed = service != "s3" or draw.randrange(4) > 0
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    credentials = [
        "AKIA" + "".join(draw.choices(alphabet, k=4)),
        "".join(draw.choices(alphabet + "abcdefg/+", k=8)),
        text(draw, alphabet + "/+=", 10) if draw.randrange(2) else "",
    ]
    return {
        "method": method,
        "endpoint": endpoint,
        "key": key,
        "query": query,
        "headers": make_headers(draw),
        "credentials": credentials,
        "region": draw.choice(REGIONS),
        "service": service,
        "seconds": draw.randrange(951782400, 4102444800),
        "payload": body if is_signed else None,
        "url": encoded_url(endpoint, key, query),
    }


def authorization(each):
    request = AWSRequest(each["method"], each["url"], data=(each["payload"] or "").encode())
    for name, value in each["headers"]:
        request.headers[name] = value
    request.context["client_config"] = Config(s3={"payload_signing_enabled": each["payload"] is not None})
    kind = botocore.auth.S3SigV4Auth if each["service"] == "s3" else botocore.auth.SigV4Auth
    signer = kind(Credentials(*each["credentials"]), each["service"], each["region"])
    now = datetime.datetime.fromtimestamp(each["seconds"], datetime.timezone.utc)
    with mock.patch.object(botocore.auth, "get_current_datetime", lambda: now):
        signer.add_auth(request)
    return request.headers["Authorization"].split("/aws4_request, ")[1]


def main():
    draw = random.Random(4)
    lines = []
    for _ in range(COUNT):
        each = make_request(draw)
        lines.append(json.dumps([*each.values(), authorization(each)], ensure_ascii=False, separators=(",", ":")))
    path = pathlib.Path(__file__).with_name("signatures.jsonl.gz")
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))
    print(f"{path.name}: {len(lines)} requests, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
