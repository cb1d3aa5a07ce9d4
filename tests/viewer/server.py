"""Serves one folder over HTTP on the loopback as an object store does, and remembers what it was asked.

GET with one range is answered by 206 with exactly these bytes, HEAD by the length, what is not a file by 404, and any
origin may read it all. Nothing is compressed on the way: with a Content-Encoding the bytes of a range would be others.
"""

import dataclasses
import http.server
import pathlib
import re
import sys
import threading
import urllib.parse


@dataclasses.dataclass(frozen=True)
class Request:
    method: str
    path: str
    range: str | None
    status: int


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    types = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm"}

    def do_GET(self):
        content = self.content()
        if content is None:
            return self.answer(404)
        asked = self.headers.get("Range")
        if asked is None:
            return self.answer(200, content)
        part = self.part(asked, len(content))
        if part is None:
            return self.answer(416, headers={"Content-Range": f"bytes */{len(content)}"})
        where = f"bytes {part.start}-{part.stop - 1}/{len(content)}"
        self.answer(206, content[part.start : part.stop], {"Content-Range": where})

    def do_HEAD(self):
        content = self.content()
        self.answer(404) if content is None else self.answer(200, content)

    def do_OPTIONS(self):
        self.answer(204, headers={"Access-Control-Allow-Methods": "GET, HEAD", "Access-Control-Allow-Headers": "*"})

    def content(self):
        root = self.server.root
        file = (root / urllib.parse.unquote(urllib.parse.urlsplit(self.path).path).lstrip("/")).resolve()
        return file.read_bytes() if file.is_relative_to(root) and file.is_file() else None

    @staticmethod
    def part(asked, size):
        """The range that was asked for, cut off at the end of the content; None where nothing of it is there."""
        first, last = re.fullmatch(r"bytes=(\d*)-(\d*)", asked).groups()
        if not first:  # the last so many bytes
            part = range(max(size - int(last), 0), size)
        else:
            part = range(int(first), min(int(last) + 1, size) if last else size)
        return part or None

    def answer(self, status, content=b"", headers=None):
        self.server.requests.append(Request(self.command, self.path, self.headers.get("Range"), status))
        self.send_response(status)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Expose-Headers", "Content-Range, Content-Length")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Type", self.types.get(pathlib.Path(self.path).suffix, "application/octet-stream"))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_):
        pass  # `requests` has it


class Server(http.server.ThreadingHTTPServer):
    """`with Server(folder) as server`: server.url ends with the folder's files, server.requests is what was asked."""

    def __init__(self, root):
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = pathlib.Path(root).resolve()
        self.requests = []
        self.url = "http://%s:%d" % self.server_address

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *where):
        if not isinstance(sys.exception(), ConnectionError):  # a browser hangs up when its page is closed
            super().handle_error(*where)
