"""A secret that is given in any way is in no output: not in reports, traces, errors, representations or pickles."""

import pickle
import re

import pytest
import sherd
import sherd.dask
import xarray
from archives import zipped
from interop.remote_datasets import VALUES

MARK = "Hunter2Hunter2"
NOBODY = {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none"}


@pytest.fixture(autouse=True)
def without_credentials(monkeypatch, tmp_path):
    for name, value in (NOBODY | {"HOME": str(tmp_path)}).items():
        monkeypatch.setenv(name, value)


class Case:
    """A location with secrets: of a proxy that answers as its faults say, with the URL of an array."""

    def __init__(self, url, options=None, environment=None):
        self.url, self.options, self.environment = url, options or {}, environment or {}


def cases(proxy):
    """How a secret can be given. The proxy looks at none of them."""
    host = proxy.url.removeprefix("http://")
    http, s3, gs = f"{proxy.url}/b/a.zarr", "s3://b/a.zarr", "gs://b/a.zarr"
    at = {"endpoint": proxy.url, "region": "us-east-1"}
    pair = {"AWS_ACCESS_KEY_ID": "AKIDAKID", "AWS_SECRET_ACCESS_KEY": MARK, "AWS_SESSION_TOKEN": MARK, "AWS_ENDPOINT_URL_S3": proxy.url}
    return {
        "user and password of the URL": Case(f"http://{MARK}:{MARK}@{host}/b/a.zarr"),
        "presigned query": Case(f"{http}.zip/a?X-Amz-Signature={MARK}&X-Amz-Credential={MARK}"),
        "headers": Case(http, {"headers": f"X-Key: {MARK}"}),
        "bearer token": Case(http, {"bearer_token": MARK}),
        "password": Case(http, {"username": MARK, "password": MARK}),
        "proxy": Case("http://data.example.org/b/a.zarr", {"proxy": f"http://{MARK}:{MARK}@{host}"}),
        "keys": Case(s3, at | {"key": MARK, "secret": MARK, "token": MARK}),
        "keys and an endpoint in the URL": Case(f"s3+{proxy.url}/b/a.zarr", {"key": MARK, "secret": MARK, "token": MARK}),
        "environment of AWS": Case(s3, {}, pair),
        "environment of Sherd": Case(http, {}, {"SHERD_STORE_BEARER_TOKEN": MARK}),
        "token of Google": Case(gs, {"endpoint": proxy.url, "token": MARK}),
    }


NAMES = list(cases(type("proxy", (), {"url": "http://127.0.0.1:1"})))
FAULTS = {
    "success": [],
    "refused": [{"status": 403, "body": f"<Error><Code>AccessDenied</Code><Message>you are {MARK[:4]}</Message></Error>"}],
    "unauthorized": [{"status": 401}],
    "busy": [{"status": 503, "headers": {"Retry-After": "0"}}],
    "busy once": [{"status": 503, "times": 1}],
    "reset": [{"cut_after": 0, "reset": True}],
    "redirected": [{"status": 302, "headers": {"Location": "http://localhost:9/{target}"}}],
    "redirected in a loop": [{"status": 307, "headers": {"Location": "{target}"}}],
    "other region": [{"status": 301, "headers": {"x-amz-bucket-region": "eu-west-1"}}],
    "expired": [{"status": 400, "body": "<Error><Code>ExpiredToken</Code><Message>The token is old</Message></Error>"}],
    "not a list": [{"target": "list-type", "body": "<html>", "status": 200}],
}


@pytest.fixture
def served(fault_proxy, datasets):
    """A proxy with an array, in a directory and in a zip archive."""
    proxy = fault_proxy()
    for path in (datasets / "two.zarr/a").rglob("*"):
        if path.is_file():
            for folder in ("b/a.zarr", "ttp://data.example.org/b/a.zarr"):  # a proxy is asked for a whole URL
                proxy.put(f"{folder}/{path.relative_to(datasets / 'two.zarr/a')}", path.read_bytes())
    zipped(datasets / "two.zarr", datasets.parent / "secret.zip")
    proxy.put("b/a.zarr.zip", (datasets.parent / "secret.zip").read_bytes())
    return proxy


def assert_hidden(*texts):
    for text in texts:
        text = text.decode("latin-1") if isinstance(text, bytes) else text
        found = re.search(MARK, text)
        assert not found, text[max(0, found.start() - 300):found.end() + 100]


@pytest.mark.parametrize("name", NAMES)
def test_the_command_shows_no_secret(served, command, name):
    case = cases(served)[name]
    command.environment |= NOBODY | {"HOME": str(command.folder)} | case.environment
    given = [each for option, value in (case.options | {"attempts": "2"}).items() for each in ("--store-option", f"{option}={value}")]
    for fault, faults in FAULTS.items():
        served.set(*faults)
        for arguments in (["--stats", "--trace", "info"], ["--json", "--stats", "info"], ["read", "--select", "0,0,:", "--format", "json"],
                          ["ls", "--raw"], ["ncdump", "-h"], ["copy", "--json"], ["check"], ["tree"]):
            more = [f"{fault}.out"] if arguments[0] == "copy" else []
            ran = command(*arguments, *given, case.url, *more, env={"NCTRACING": "9"})
            assert_hidden(ran.stdout, ran.stderr)
            if fault in ("success", "busy once") and arguments[0] == "read":
                assert ran.json == VALUES[0, 0].tolist(), ran.stderr
    served.set()
    command.ok("info", *given, case.url)
    for wrong in ("attempts", "missing_status", "timeout", "headers", "anonymous", "addressing_style", "region"):
        ran = command("info", *given, "--store-option", f"{wrong}={MARK} {MARK}", case.url)
        assert_hidden(ran.stdout, ran.stderr) if wrong != "region" else None


@pytest.mark.parametrize("name", NAMES)
def test_python_shows_no_secret(served, tmp_path, monkeypatch, name):
    case = cases(served)[name]
    for variable, value in case.environment.items():
        monkeypatch.setenv(variable, value)
    options = case.options | {"attempts": 2}
    config = {"storage_options": options}
    uses = {
        "open": lambda: sherd.open(case.url, storage_options=options),
        "read": lambda: (array := sherd.open(case.url, storage_options=options), array[0, 0, 0])[0],
        "store": lambda: (store := sherd.Store(case.url, storage_options=options), store.get(".zarray"))[0],
        "list": lambda: sherd.Store(case.url, storage_options=options).keys(),
        "dataset": lambda: xarray.open_dataset(case.url, engine="sherd", storage_options=options),
        "dask": lambda: sherd.dask.from_zarr(case.url, storage_options=options),
        "collection": lambda: sherd.neuroglancer.Collection(case.url, config=config),
        "check": lambda: sherd.check(case.url, storage_options=options),
        "copy": lambda: sherd.copy(case.url, tmp_path / "copy", storage_options=options, overwrite=True),
        "raw": lambda: sherd.copy(case.url, tmp_path / "raw", storage_options=options, overwrite=True, raw=True),
    }
    for fault, faults in FAULTS.items():
        for use, run in uses.items():
            served.set(*faults)
            with sherd.record() as log:
                try:
                    made = run()
                except Exception as error:  # noqa: BLE001
                    chain = [each for each in (error, error.__cause__, error.__context__) if each is not None]
                    assert_hidden(*(repr(each) + str(each) + repr(vars(each)) for each in chain), *(pickle.dumps(each) for each in chain[:1]))
                    assert fault not in ("success", "busy once") or use in ("list", "dataset", "collection", "check", "raw"), (fault, use, error)
                    continue
            assert_hidden(repr(made), str(made), repr(log.requests), repr(log.stats))
            if use in ("open", "store", "dask"):
                assert_hidden(pickle.dumps(made))
    monkeypatch.setattr(sherd.config, "storage_options", options | {"credentials": lambda: (MARK, MARK)})
    assert_hidden(repr(sherd.config))


def test_a_function_for_credentials_shows_no_secret(served):
    def credentials():
        return {"key": "AKIDAKID", "secret": MARK, "token": MARK}

    def failing():
        raise RuntimeError(f"no {MARK}")

    options = {"endpoint": served.url, "region": "us-east-1", "credentials": credentials, "attempts": 2}
    array = sherd.open("s3://b/a.zarr", storage_options=options)
    assert array[0, 0, 0] == VALUES[0, 0, 0]
    assert_hidden(repr(array), pickle.dumps(array))
    for faults in FAULTS.values():
        served.set(*faults)
        for function in (credentials, failing, lambda: MARK, lambda: {"key": MARK}, lambda: {"secret_key": MARK}, lambda: (MARK, 3)):
            try:
                sherd.open("s3://b/a.zarr", storage_options=options | {"credentials": function})[0, 0, 0]
            except sherd.Error as error:
                assert_hidden(repr(error), str(error), repr(error.__cause__), repr(error.__context__), pickle.dumps(error))


def test_a_profile_and_its_process_show_no_secret(served, tmp_path, command):
    (tmp_path / "config").write_text(f"""[profile static]
aws_access_key_id = AKIDAKID
aws_secret_access_key = {MARK}
[profile process]
credential_process = /bin/echo '{{"Version": 1, "AccessKeyId": "AKIDAKID", "SecretAccessKey": "{MARK}", "SessionToken": "{MARK}"}}'
[profile broken]
credential_process = /bin/sh -c 'echo {MARK}; exit 3'
[profile half]
aws_access_key_id = AKIDAKID
aws_session_token = {MARK}
""")
    command.environment |= {"AWS_CONFIG_FILE": str(tmp_path / "config"), "AWS_ENDPOINT_URL_S3": served.url, "AWS_EC2_METADATA_DISABLED": "true"}
    for profile, code in (("static", 0), ("process", 0), ("broken", None), ("half", None)):
        for faults in FAULTS.values():
            served.set(*faults)
            ran = command("--trace", "--stats", "info", "s3://b/a.zarr", "--store-option", f"profile={profile}", "--store-option", "attempts=2")
            assert_hidden(ran.stdout, ran.stderr)
            if not faults:
                assert (ran.code == 0) == (code == 0), ran.stderr
