"""What tests do with a running server. A Server is a value: any process can make it from the JSON that another one printed."""

import concurrent.futures
import dataclasses
import hashlib
import http.client
import pathlib
import threading
import time
import urllib.parse
import uuid

CONNECTIONS = threading.local()
MOST_CONNECTIONS = 8  # of a thread


@dataclasses.dataclass
class Reply:
    status: int
    headers: dict  # names in lower case
    body: bytes


@dataclasses.dataclass
class Server:
    """`url` is the endpoint: scheme, 127.0.0.1 and port, without a slash at the end."""

    name: str
    url: str
    folder: str
    key: str = ""
    secret: str = ""
    region: str = "us-east-1"
    more: dict = dataclasses.field(default_factory=dict)

    @property
    def host(self):
        return self.url.split("://")[1]

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    def send(self, method, target, body=b"", headers=None):
        """Sends a request as it is, over a connection that is kept for this thread."""
        connections = CONNECTIONS.__dict__.setdefault("open", {})
        for fresh in (False, True):
            connection = connections.pop(self.host, None)
            if connection is None or fresh:
                connection = http.client.HTTPConnection(self.host, timeout=60)
            try:
                connection.request(method, target, body=body or None, headers=headers or {})
                reply = connection.getresponse()
                content = reply.read()
            except (http.client.RemoteDisconnected, ConnectionError):
                connection.close()
                if fresh:
                    raise
                continue
            connections[self.host] = connection
            if len(connections) > MOST_CONNECTIONS:
                connections.pop(next(iter(connections))).close()
            return Reply(reply.status, {name.lower(): value for name, value in reply.getheaders()}, content)

    def put_many(self, bucket, objects, headers=None):
        """Puts {key: bytes}, several at a time."""
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda each: self.put(bucket, each[0], each[1], headers), objects.items()))

    def put_folder(self, bucket, folder, prefix=""):
        """Puts each file below a folder under the key of its path; `prefix` comes before each key."""
        folder = pathlib.Path(folder)
        files = [each for each in folder.rglob("*") if each.is_file()]
        for start in range(0, len(files), 256):
            self.put_many(bucket, {prefix + each.relative_to(folder).as_posix(): each.read_bytes()
                                   for each in files[start:start + 256]})


def expect(reply, *statuses):
    if reply.status not in statuses:
        raise RuntimeError(f"status {reply.status}: {reply.body[:500]!r}")
    return reply


def path_of(bucket, key):
    return "/" + urllib.parse.quote(f"{bucket}/{key}" if key else bucket, safe="/~-_.")


class S3Server(Server):
    """A server of S3's protocol; buckets are addressed by path."""

    def request(self, method, target, body=b"", headers=None, *, secret=None, anonymous=False):
        """Sends a request signed by botocore. `target` is an encoded path with an optional query."""
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        if anonymous:
            return self.send(method, target, body, headers)
        unsigned = dict(headers or {}) | {"X-Amz-Content-SHA256": hashlib.sha256(body).hexdigest()}
        request = AWSRequest(method=method, url=self.url + target, data=body, headers=unsigned)
        S3SigV4Auth(Credentials(self.key, secret or self.secret), "s3", self.region).add_auth(request)
        return self.send(method, target, body, dict(request.headers.items()))

    def create_bucket(self, name=None):
        """Creates a bucket, with a name that no other test uses unless one is given, and returns the name."""
        name = name or f"b-{uuid.uuid4().hex[:16]}"
        expect(self.request("PUT", path_of(name, "")), 200, 201)
        return name

    def put(self, bucket, key, data, headers=None):
        """Puts an object and returns its ETag as the server wrote it. {"x-amz-acl": "public-read"} makes it public."""
        for wait in (0.2, 0.5, 1, 2, 4, 8, 0):  # on a busy machine a server may ask for fewer requests
            reply = self.request("PUT", path_of(bucket, key), bytes(data), headers)
            if reply.status != 503:
                break
            time.sleep(wait)
        return expect(reply, 200, 201).headers["etag"]

    def get(self, bucket, key, headers=None, **signing):
        """GET with these headers; returns the Reply, whatever its status."""
        return self.request("GET", path_of(bucket, key), headers=headers, **signing)

    def environment(self):
        """What programs that read AWS's environment need to reach this server."""
        return {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_REGION": self.region,
                "AWS_DEFAULT_REGION": self.region, "AWS_ENDPOINT_URL_S3": self.url}

    def client(self, **config):
        """A boto3 client that sends each request once."""
        import boto3
        from botocore.config import Config

        settings = {"s3": {"addressing_style": "path"}, "request_checksum_calculation": "when_required",
                    "response_checksum_validation": "when_required", "retries": {"max_attempts": 1}}
        return boto3.client("s3", endpoint_url=self.url, aws_access_key_id=self.key, aws_secret_access_key=self.secret,
                            region_name=self.region, config=Config(**settings | config))


class GcsServer(Server):
    """A server of Google Cloud Storage's protocols; reads use the XML one, as public URLs do."""

    def create_bucket(self, name=None):
        import json

        name = name or f"b-{uuid.uuid4().hex[:16]}"
        expect(self.send("POST", "/storage/v1/b?project=test", json.dumps({"name": name}).encode(),
                         {"Content-Type": "application/json"}), 200)
        return name

    def put(self, bucket, key, data, headers=None):
        """Puts an object and returns its generation. The headers may have Content-Encoding and Content-Type."""
        headers = dict(headers or {})
        query = {"uploadType": "media", "name": key}
        if "Content-Encoding" in headers:
            query["contentEncoding"] = headers.pop("Content-Encoding")
        target = f"/upload/storage/v1/b/{bucket}/o?{urllib.parse.urlencode(query)}"
        import json

        reply = self.send("POST", target, bytes(data), {"Content-Type": "application/octet-stream"} | headers)
        return json.loads(expect(reply, 200).body)["generation"]

    def get(self, bucket, key, headers=None):
        return self.send("GET", path_of(bucket, key), headers=headers)


class WebServer(Server):
    """nginx with a folder of files. `more` has: https, certificate, user, password, token. Locations, over http and https:

    /plain/           files, with ranges
    /basic/           needs basic authorization: user and password
    /bearer/          needs `Authorization: Bearer TOKEN`
    /no-ranges/       answers 200 to a range
    /gzip/            compresses if the client accepts gzip
    /encoded/         files as they are, with `Content-Encoding: gzip`
    /no-validators/   neither ETag nor Last-Modified
    /cors/            files for the pages of any origin
    /moved/           302 to /plain/
    /elsewhere/       302 to /bearer/ of another host name (localhost)
    /downgraded/      302 to /plain/ by http
    /metadata/        302 to http://169.254.169.254/
    /loop/            302 to itself
    """

    def create_bucket(self, name=None):
        name = name or f"b-{uuid.uuid4().hex[:16]}"
        (pathlib.Path(self.folder) / "files" / name).mkdir()
        return name

    def put(self, bucket, key, data, headers=None):
        """Writes a file; headers are not stored."""
        path = pathlib.Path(self.folder) / "files" / bucket / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def get(self, bucket, key, headers=None, location="plain"):
        return self.send("GET", f"/{location}{path_of(bucket, key)}", headers=headers)

    def at(self, bucket, key="", location="plain", scheme="http"):
        """The URL of a file, or of a bucket without a slash at the end."""
        base = self.more["https"] if scheme == "https" else self.url
        return f"{base}/{location}{path_of(bucket, key)}"

    def requests(self):
        """The requests that have been answered, in order: {method, target, status, sent, range, authorization, connection}."""
        import json

        mark = f"/marker-{uuid.uuid4().hex}"
        self.send("GET", mark)
        # nginx logs in the order of its answers, since it has one worker; the last line may be on its way.
        while True:
            text = (pathlib.Path(self.folder) / "access.log").read_text()
            if mark in text:
                break
            time.sleep(0.002)
        lines = [json.loads(line) for line in text.splitlines()]
        return [line for line in lines if not line["target"].startswith("/marker-")]
