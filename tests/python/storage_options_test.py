"""storage_options: of the store that a path or URL names."""

import pickle
import signal
import time

import pytest
import sherd


@pytest.fixture
def linked(tmp_path):
    """A group with the array `link`, which is a symbolic link."""
    sherd.create_array(tmp_path / "outside", shape=4, dtype="uint8")
    sherd.create_group(tmp_path / "g.zarr")
    (tmp_path / "g.zarr" / "link").symlink_to(tmp_path / "outside")
    return tmp_path / "g.zarr"


def test_options_reach_the_store(linked):
    assert sherd.open(linked).keys() == ["link"]
    strict = {"follow_symlinks": False}
    assert sherd.open(linked, storage_options=strict).keys() == []
    assert sherd.open_group(linked, storage_options=strict).keys() == []
    assert sherd.open_group(linked, config={"storage_options": strict}).keys() == []
    assert sherd.open_array(linked, path="link", storage_options={"follow_symlinks": True}).shape == (4,)


def test_options_are_those_of_what_is_created(tmp_path):
    options = {"durable": False}
    sherd.create_group(tmp_path / "g.zarr", storage_options=options)
    sherd.create_array(tmp_path / "g.zarr", name="a", shape=4, dtype="uint8", storage_options=options)
    assert sherd.consolidate_metadata(tmp_path / "g.zarr", storage_options=options).keys() == ["a"]
    sherd.copy(tmp_path / "g.zarr", tmp_path / "h.zarr", storage_options=options)
    assert sherd.check(tmp_path / "h.zarr", storage_options=options)["ok"]


def test_a_handle_is_pickled_with_its_options(linked):
    group = sherd.open(linked, storage_options={"follow_symlinks": False})
    assert pickle.loads(pickle.dumps(group)).keys() == []


def test_unknown_options_are_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(sherd.InvalidArgument, match="did you mean 'durable'"):
        sherd.open(tmp_path, storage_options={"durabel": True})
    with pytest.raises(sherd.InvalidArgument, match="must be true or false, not 'maybe'"):
        sherd.open(tmp_path, storage_options={"durable": "maybe"})
    with pytest.raises(sherd.InvalidArgument, match="must be a dict of options by name"):
        sherd.open(tmp_path, storage_options=["durable"])


@pytest.mark.parametrize("name, value, instead", [("config_kwargs", {"s3": {"addressing_style": "path"}}, "addressing_style"),
                                                  ("client_kwargs", {"headers": {"a": "SECRET"}}, "headers"),
                                                  ("token", {"client_email": "a@b", "private_key": "SECRET"}, "OAuth"),
                                                  ("region", ["SECRET"], "str")])
def test_an_option_that_is_no_text_is_refused_with_what_to_use(name, value, instead):
    with pytest.raises(ValueError, match=f"option '{name}' cannot be a {type(value).__name__}.*{instead}") as refused:
        sherd.open("gs://b/x", storage_options={name: value})
    assert "SECRET" not in str(refused.value)


def test_a_store_has_been_opened_with_its_options():
    with pytest.raises(sherd.InvalidArgument, match="cannot be used with a Store"):
        sherd.open(sherd.MemoryStore(), storage_options={"durable": False})


def test_a_function_for_credentials_is_asked_once_if_they_expire(fault_proxy):
    proxy = fault_proxy()
    proxy.put("b/a.zarr/zarr.json", b'{"zarr_format": 3, "node_type": "group"}')
    asked = []

    def opened(function):
        sherd.open("s3://b/a.zarr", storage_options={"endpoint": proxy.url, "region": "us-east-1", "credentials": function})

    def temporary():
        asked.append("temporary")
        return {"key": "AK", "secret": "SK", "expires": time.time() + 3600}

    def lasting():
        asked.append("lasting")
        return {"key": "AK", "secret": "SK"}

    for function in (temporary, temporary, lasting, lasting):
        opened(function)
    assert asked == ["temporary", "lasting", "lasting"]


@pytest.fixture
def bucket(fault_proxy):
    """The options of a bucket that has the array a.zarr, whose chunks are not stored, with a function for credentials."""
    proxy = fault_proxy()
    proxy.put("b/a.zarr/zarr.json", sherd.create_array("memory:", shape=4, dtype="u1").store.get("zarr.json"))
    return lambda function: {"endpoint": proxy.url, "region": "us-east-1", "credentials": function}


def interrupted():
    signal.default_int_handler(signal.SIGINT, None)  # what Ctrl-C calls


def ended():
    raise SystemExit(3)


@pytest.mark.parametrize(("function", "kind"), [(interrupted, KeyboardInterrupt), (ended, SystemExit)])
def test_what_ends_programs_leaves_a_function_for_credentials(bucket, function, kind):
    with pytest.raises(kind):
        sherd.open("s3://b/a.zarr", storage_options=bucket(function))
    with pytest.raises(kind):
        sherd.Store("s3://b/a.zarr", storage_options=bucket(function)).get("zarr.json")
    good = []

    def good_at_first():
        good.append({"key": "AK", "secret": "SK", "expires": time.time() + 0.05})
        return good[-1] if len(good) < 3 else function()

    array = sherd.open("s3://b/a.zarr", storage_options=bucket(good_at_first))
    with pytest.raises(kind):
        while True:
            array[...]
    assert sherd.open("s3://b/a.zarr", storage_options=bucket(lambda: ("AK", "SK")))[...].tolist() == [0] * 4


def test_an_exception_of_a_function_for_credentials_is_named(bucket):
    def failing():
        raise LookupError("SECRET")

    with pytest.raises(sherd.Error, match="the function for credentials raised LookupError") as raised:
        sherd.open("s3://b/a.zarr", storage_options=bucket(failing))
    assert "SECRET" not in str(raised.value)
