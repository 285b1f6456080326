"""A Chromium, and pages of the built book in it."""

import browser
import pytest
from built import READ, opening
from playwright.sync_api import sync_playwright


@pytest.fixture(scope="module")
def chromium():
    """A Chromium of the system."""
    path = browser.find()
    assert path, "no Chromium: install Debian's package chromium, or set CHROMIUM to its path"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=browser.QUIET)
        yield running
        running.close()


@pytest.fixture
def open_page(chromium):
    """A function that opens a page of its own, see `opening`."""
    with opening(chromium) as opened:
        yield opened


@pytest.fixture(scope="module", params=READ, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def page(chromium, path):
    """A page, opened once for all tests that only read it."""
    with opening(chromium) as opened:
        yield opened(path)
