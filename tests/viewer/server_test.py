"""The server of these tests does what Neuroglancer needs of one, and nothing else, so what works with it works with any server."""

import http.client

import pytest


@pytest.fixture
def ask(served, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/object").write_bytes(bytes(range(100)))
    connection = http.client.HTTPConnection(*served.server_address)

    def ask(method, path, **headers):
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response, response.read()

    yield ask
    connection.close()


@pytest.mark.parametrize(
    ("asked", "first", "last"), [("10-19", 10, 19), ("99-99", 99, 99), ("90-200", 90, 99), ("95-", 95, 99), ("-7", 93, 99)]
)
def test_a_range_is_answered_by_exactly_its_bytes(ask, asked, first, last):
    response, content = ask("GET", "/folder/object", Range=f"bytes={asked}")

    assert response.status == 206
    assert content == bytes(range(first, last + 1))
    assert response.headers["Content-Range"] == f"bytes {first}-{last}/100"
    assert response.headers["Content-Encoding"] is None


@pytest.mark.parametrize("asked", ["100-110", "20-10", "-0"])
def test_a_range_without_bytes_is_refused(ask, asked):
    assert ask("GET", "/folder/object", Range=f"bytes={asked}")[0].status == 416


def test_head_reports_the_length(ask):
    response, content = ask("HEAD", "/folder/object")

    assert (response.status, response.headers["Content-Length"], content) == (200, "100", b"")


@pytest.mark.parametrize("path", ["/nothing", "/folder", "/" + "../" * 20 + "etc/passwd"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_files_outside_the_folder_are_not_found(ask, method, path):
    assert ask(method, path)[0].status == 404


def test_pages_of_other_origins_may_read_files(ask):
    for method, status in (("OPTIONS", 204), ("GET", 200)):
        response, _ = ask(method, "/folder/object", **{"Origin": "http://elsewhere", "Accept-Encoding": "gzip"})
        assert response.status == status
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert response.headers["Content-Encoding"] is None


def test_every_request_is_remembered(ask, served):
    ask("GET", "/folder/object", Range="bytes=1-2")
    ask("HEAD", "/nothing")

    remembered = [(r.method, r.path, r.range, r.status) for r in served.requests]
    assert remembered == [("GET", "/folder/object", "bytes=1-2", 206), ("HEAD", "/nothing", None, 404)]
