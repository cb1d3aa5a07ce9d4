"""The fault proxy as a program; tests/remote/fault_proxy_test.cc has its faults."""

import time

import pytest
from servers import through


def test_the_proxy_serves_objects_of_its_own(fault_proxy):
    proxy = fault_proxy()
    etag = proxy.put("a b/k", b"0123456789")
    reply = proxy.send("GET", "/a%20b/k", headers={"Range": "bytes=-3"})
    assert (reply.status, reply.body, reply.headers["etag"]) == (206, b"789", etag)
    assert proxy.counts()["requests"] == 1
    (request,) = proxy.requests()
    assert (request["method"], request["target"]) == ("GET", "/a%20b/k")
    assert ["Range", "bytes=-3"] in request["headers"]
    proxy.reset()
    assert proxy.counts()["requests"] == 0


def test_the_proxy_stands_before_an_s3_server(fault_proxy, s3):
    proxy = fault_proxy(s3)
    server = through(s3, proxy)
    bucket = server.create_bucket()
    server.put(bucket, "a/k", b"0123456789")
    assert server.get(bucket, "a/k", {"Range": "bytes=2-4"}).body == b"234"
    assert [each["Key"] for each in server.client().list_objects_v2(Bucket=bucket)["Contents"]] == ["a/k"]
    assert server.get(bucket, "a/k", secret="another").status == 403


def test_faults_are_set_while_the_proxy_runs(fault_proxy, nginx):
    proxy = fault_proxy(nginx, {"times": 1, "status": 503, "headers": {"Retry-After": "2"}})
    bucket = nginx.create_bucket()
    nginx.put(bucket, "k", b"0123456789")
    server = through(nginx, proxy)
    refused = server.get(bucket, "k")
    assert (refused.status, refused.headers["retry-after"]) == (503, "2")
    assert server.get(bucket, "k").body == b"0123456789"
    proxy.set({"delay": 30}, {"headers": {"ETag": ""}})
    began = time.monotonic()
    reply = server.get(bucket, "k")
    assert time.monotonic() - began >= 0.03 and "etag" not in reply.headers
    with pytest.raises(RuntimeError, match="no member .*colour"):
        proxy.set({"colour": "red"})
