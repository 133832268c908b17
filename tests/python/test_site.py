# SPDX-License-Identifier: Apache-2.0
"""The documentation's site, as `make docs` leaves it: it works from files and loads nothing from elsewhere."""

import re
import shutil
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from browser import needs_browser, opened
from conftest import REPOSITORY

SITE = REPOSITORY / "build/site"

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="the site is not built (`make docs` builds it)"
)


class _Loaded(HTMLParser):
    """Addresses of what a page loads by itself."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag in ("script", "img", "iframe", "source"):
            self.addresses.append(given.get("src"))
        if tag == "link" and given.get("rel") in ("stylesheet", "preconnect", "preload", "icon"):
            self.addresses.append(given.get("href"))


def test_pages_load_nothing_from_elsewhere():
    pages = sorted(SITE.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        loaded = _Loaded()
        loaded.feed(page.read_text())
        far = [address for address in loaded.addresses if address and urlsplit(address).netloc]
        assert not far, f"{page}: {far}"
        gone = [a for a in loaded.addresses if a and ":" not in a and not (page.parent / a.partition("?")[0]).exists()]
        assert not gone or page.name == "404.html", f"{page}: {gone}"


@pytest.mark.parametrize(
    "page, text",
    [
        ("parameters", "node.host.harts"),
        ("commands", "fabricvp docs"),
        ("statistics", "instructions"),
        ("schema", "json"),
        ("python", "fabricvp.platform.Platform"),
        ("cpp/host", "class host::host_device"),
    ],
)
def test_generated_pages_hold_what_programs_say(page, text):
    found = (SITE / "docs/reference/generated" / f"{page}.html").read_text()
    assert text.partition("::")[2] in found if "::" in text else text.rpartition(".")[2] in found


@needs_browser
def test_search_works_from_files(tmp_path):
    """A browser opens the site's first page from its file, and looks for "doorbell"."""
    site = tmp_path / "site"
    shutil.copytree(SITE, site)
    # The query opens the search; its results stand in the page a moment later.
    page = site / "index.html"
    script = """<script>
addEventListener("load", () => {
  const field = document.querySelector("input[data-md-component=search-query]");
  document.querySelector("#__search").click();
  field.focus();
  field.value = "doorbell";
  for (const name of ["input", "keyup", "focus"]) field.dispatchEvent(new Event(name, {bubbles: true}));
});
</script></body>"""
    page.write_text(page.read_text().replace("</body>", script))
    shown, _ = opened(page, tmp_path)
    links = re.findall(r'<a href="([^"]+)" class="md-search-result__link"', shown)
    assert len(links) > 3, shown[-3000:]
    found = [site / urlsplit(link.removeprefix(site.as_uri() + "/")).path for link in links]
    assert any(file.name == "hca.html" for file in found) and all(file.exists() for file in found), links
