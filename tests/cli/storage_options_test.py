"""Storage options on the command line."""

import pytest


def test_storage_options_reach_the_store_of_a_url(sherd, tmp_path):
    sherd.ok("create", "a.zarr", "--shape", "4", "--dtype", "uint8", "--chunks", "2")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "link").symlink_to(tmp_path / "a.zarr")
    assert sherd.ok("tree", "store/link").stdout
    inside = ("info", "store/link", "--store-option", "follow_symlinks=true")
    assert sherd.ok(*inside, "--store-option", "durable=false").code == 0


def test_an_unknown_storage_option_is_refused_with_the_nearest_name(sherd):
    ran = sherd("info", "a.zarr", "--store-option", "follow_symlink=false")
    assert ran.code == 2
    assert "did you mean 'follow_symlinks'?" in ran.stderr


def test_a_storage_option_has_a_value(sherd):
    ran = sherd("info", "a.zarr", "--store-option", "durable")
    assert ran.code == 2
    assert ran.stderr == "sherd: --store-option durable: write it as NAME=VALUE\n"


def test_a_misspelled_storage_option_does_not_show_its_secret(sherd):
    ran = sherd("info", "s3://b/a.zarr", "--store-option", "secret:Hunter2")
    assert ran.code == 2
    assert ran.stderr == "sherd: --store-option secret: write it as NAME=VALUE\n"


@pytest.mark.parametrize("url", ["http:/u:Hunter2@host/a.zarr", "https://host/a.zip?sig=1#Hunter2"])
def test_a_misspelled_url_does_not_show_its_secret(sherd, url):
    ran = sherd("info", url)
    assert ran.code == 2 and "Hunter2" not in ran.stderr, ran.stderr
