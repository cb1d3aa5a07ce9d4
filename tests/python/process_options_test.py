"""Storage options of the process: sherd.config.storage_options, and the environment variables SHERD_STORE_<NAME>."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sherd

S3 = {"key": "AK", "secret": "SK", "region": "eu-west-1", "endpoint": "http://127.0.0.1:1", "attempts": "1"}


@pytest.fixture
def for_s3(monkeypatch):
    monkeypatch.setattr(sherd.config, "storage_options", S3)


@pytest.fixture
def array(tmp_path):
    sherd.create_array(tmp_path / "a.zarr", data=np.arange(6))
    return tmp_path / "a.zarr"


def test_stores_without_an_option_of_the_process_ignore_it(array, tmp_path, for_s3):
    assert sherd.open(array)[2] == 2 and sherd.Store(tmp_path).list_dir() == ["a.zarr/"]
    sherd.create_array(tmp_path / "new.zarr", data=np.arange(3))
    sherd.copy(array, tmp_path / "copy.zarr")
    sherd.copy(array, tmp_path / "copy.zip")
    assert sherd.open(tmp_path / "copy.zip")[2] == 2 and sherd.open(tmp_path / "new.zarr", mode="r+").shape == (3,)
    assert sherd.create_array("memory:", shape=2, dtype="u1").shape == (2,)
    with pytest.raises(sherd.Io, match="127.0.0.1 port 1"):  # an S3 bucket has them
        sherd.open("s3://bucket/a.zarr", config={"limits": {}})


def test_an_option_in_the_call_is_still_refused(array, for_s3):
    with pytest.raises(sherd.InvalidArgument, match="'region' is not a storage option: 'file' stores have"):
        sherd.open(array, storage_options={"region": "us-east-1"})
    with pytest.raises(sherd.InvalidArgument, match="'anonymous' is not a storage option"):
        sherd.open(array, config={"storage_options": {"anonymous": True}})


def test_an_option_of_no_store_is_refused_wherever_it_is_given(array, monkeypatch):
    monkeypatch.setattr(sherd.config, "storage_options", {"regoin": "eu-west-1"})
    with pytest.raises(sherd.InvalidArgument, match="'regoin' is not a storage option"):
        sherd.open(array)
    with pytest.raises(sherd.InvalidArgument, match="did you mean 'region'"):
        sherd.open("s3://bucket/a.zarr")


def test_a_pickled_handle_of_files_has_none_of_them(array, for_s3):
    data = pickle.dumps(sherd.open(array))
    loaded = subprocess.run([sys.executable, "-c", f"import pickle; print(pickle.loads({data!r})[2])"], capture_output=True, text=True)
    assert (loaded.stdout, loaded.stderr) == ("2\n", "")


def test_stores_ignore_variables_of_other_stores(array, monkeypatch):
    for name, value in S3.items():
        monkeypatch.setenv(f"SHERD_STORE_{name.upper()}", value)
    assert sherd.open(array)[2] == 2
    assert subprocess.run(["sherd", "info", array], capture_output=True, check=True).stderr == b""
    with pytest.raises(sherd.Io, match="127.0.0.1 port 1"):
        sherd.open("s3://bucket/a.zarr")
