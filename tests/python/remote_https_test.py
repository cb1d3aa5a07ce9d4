"""Reading over https: who is trusted, and what is refused."""

import numpy as np
import pytest

import sherd


@pytest.fixture
def array(nginx, tmp_path):
    """The bucket of an array in nginx, and the options that trust its certificate."""
    sherd.create_array(tmp_path / "a.zarr", data=np.arange(16, dtype="u1").reshape(4, 4), chunks=(2, 2))
    bucket = nginx.create_bucket()
    nginx.put_folder(bucket, tmp_path / "a.zarr", "a.zarr/")
    return lambda location, scheme="https": nginx.at(bucket, "a.zarr", location, scheme), {"ca_bundle": nginx.more["certificate"]}


def test_an_array_is_read_over_https_and_through_a_redirect_of_it(array):
    at, trusted = array
    for location in ("plain", "moved"):
        opened = sherd.open_array(at(location), storage_options=trusted)
        assert opened[...].ravel().tolist() == list(range(16))


def test_a_certificate_that_is_not_trusted_is_refused_at_once(array):
    at, _ = array
    with pytest.raises(OSError, match="certificate.*ca_bundle") as error:
        sherd.open_array(at("plain"))
    assert "requests" not in str(error.value)


def test_a_bundle_of_certificates_that_does_not_exist_is_named(array):
    at, _ = array
    with pytest.raises(OSError, match="/nonexistent"):
        sherd.open_array(at("plain"), storage_options={"ca_bundle": "/nonexistent"})


def test_no_redirect_leads_from_https_to_http(array):
    at, trusted = array
    with pytest.raises(OSError, match="redirects from https to http, which is refused"):
        sherd.open_array(at("downgraded"), storage_options=trusted)


def test_passwords_come_from_options_the_url_or_netrc(array, nginx, tmp_path, monkeypatch):
    at, _ = array
    user, password = nginx.more["user"], nginx.more["password"]
    url = at("basic", "http")
    assert sherd.open_array(url, storage_options={"username": user, "password": password}).shape == (4, 4)
    assert sherd.open_array(url.replace("://", f"://{user}:{password.replace(' ', '%20')}@")).shape == (4, 4)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(OSError, match="status 401"):
        sherd.open_array(url)
    (tmp_path / ".netrc").write_text(f'machine 127.0.0.1 login {user} password "{password}"\n')
    assert sherd.open_array(url).shape == (4, 4)
    with pytest.raises(OSError, match="status 401"):
        sherd.open_array(url, storage_options={"netrc": False})
