import shutil

import pytest


@pytest.fixture(scope="session")
def neuroglancer():
    """The viewer in a browser, one for all tests."""
    from dependencies import missing
    from viewer.server import Server
    from viewer.viewer import NODE, PAGE, Neuroglancer

    chromium = shutil.which("chromium")
    if chromium is None:
        missing("Chromium")
    if not (PAGE / "index.html").is_file() or not NODE.exists():
        missing("Neuroglancer")
    with Server(PAGE) as page, Neuroglancer(chromium, page.url) as viewer:
        yield viewer


@pytest.fixture
def served(tmp_path):
    """The HTTP server of the test's folder, tmp_path, with another origin than the page."""
    from viewer.server import Server

    with Server(tmp_path) as server:
        yield server
