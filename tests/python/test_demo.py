# SPDX-License-Identifier: Apache-2.0
"""The whole machine of `make demo`, smaller, and the page that it leaves."""

import base64
import re
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pandas
import pytest
from browser import needs_browser, opened
from conftest import REPOSITORY
from fabricvp.experiments.frame import SvgFigure

sys.path.insert(0, str(REPOSITORY / "scripts"))
import cluster_demo  # noqa: E402

SMALL = {"entries": 131072, "size": 1024, "bytes": 16 << 10, "messages": 64, "rows": 16, "columns": 64, "iterations": 3}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder, shown = tmp_path_factory.mktemp("demo"), []
    return folder, cluster_demo.run(folder, shown.append, SMALL), "".join(shown)


def test_everything_ran_and_left_something(demo):
    folder, report, shown = demo
    assert report.ok and len(report.checks) == 11
    assert "U-Boot 20" in shown and "3D controller" in shown and "all ok, powering off" in shown
    figures = {row.figure: row.measured for row in report.rows}
    assert len([name for name in figures if name.startswith("exchange")]) == 3
    for workload in "gups", "spmv":
        assert len([name for name in figures if f"({workload})" in name]) == 8
    assert all(value and value > 0 for value in figures.values())
    for name in cluster_demo.LEFT.values():
        assert (folder / name).stat().st_size > 100, name
    assert (folder / "packets.pcap").read_bytes()[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1")
    assert (
        '"jacobi"' in (folder / "regions.json").read_text() and "network_jacobi" in (folder / "trace.json").read_text()
    )


def test_what_netcrafter_does_is_explained_by_counters(demo):
    """Trimming leaves the packets of `gups` as many and cuts their flits; `spmv` fetches what was cut again."""
    folder, report, _ = demo
    frame = pandas.read_csv(folder / "link_modes.csv").set_index(["node", "workload", "links"])
    assert len(frame) == 16
    for node in 0, 1:
        plain, on = (frame.loc[node, "gups", links] for links in ("plain", "netcrafter"))
        assert on["time_us"] < plain["time_us"]
        assert on["flits"] < 0.8 * plain["flits"] and on["packets"] == pytest.approx(plain["packets"], rel=0.05)
        plain, on = (frame.loc[node, "spmv", links] for links in ("plain", "netcrafter"))
        assert on["packets"] > 1.2 * plain["packets"] and on["l1_misses"] > plain["l1_misses"]
        assert plain["flits_trimmed"] == 0 < on["flits_trimmed"]
    assert [sentence.partition(":")[0] for sentence in report.verdict] == ["gups", "spmv"]


def test_pictures_of_fabrics_show_traffic(demo):
    folder, report, _ = demo
    drawn = {s.name: s for s in report.sections if isinstance(s, SvgFigure) and s.name.startswith("traffic")}
    assert drawn.keys() == {"traffic_node0", "traffic_node1"}
    for section in drawn.values():
        assert section.caption.endswith('during the regions "kernels"')
        between_clusters = re.findall(r"[→←] ([0-9.]+ [kMG]?B), [0-9]+ % of", section.svg)
        assert between_clusters and all(amount.endswith(("kB", "MB")) for amount in between_clusters)


class _Page(HTMLParser):
    """Elements that are open at the end, and sources of pictures."""

    def __init__(self):
        super().__init__()
        self.open, self.pictures = [], []

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.pictures.append(dict(attributes)["src"])
        if tag not in ("img", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole(demo):
    folder, report, _ = demo
    text = (folder / "index.html").read_text()
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert len(page.pictures) >= 4
    for source in page.pictures:
        assert ElementTree.fromstring(base64.b64decode(source.removeprefix("data:image/svg+xml;base64,"))).tag.endswith(
            "svg"
        )
    assert text.count(">holds<") == len(report.checks) and "BROKEN" not in text


@needs_browser
def test_a_browser_shows_the_page(demo, tmp_path):
    # The page's own pictures tell whether they were drawn, by their natural width.
    script = "<script>document.title=[...document.images].map(i=>i.naturalWidth).join(' ')</script></body>"
    (tmp_path / "page.html").write_text((demo[0] / "index.html").read_text().replace("</body>", script))
    shown, _ = opened(tmp_path / "page.html", tmp_path)
    widths = re.search("<title>([0-9 ]*)</title>", shown)
    assert widths, shown[:500]
    assert len(widths[1].split()) >= 4 and all(int(w) > 0 for w in widths[1].split())
    assert "Two nodes of four GPUs" in shown


def test_a_part_that_fails_is_reported(tmp_path):
    report = cluster_demo.run(tmp_path, lambda text: None, {**SMALL, "scheme": "cpu"})
    assert not report.ok
    assert {c.name for c in report.checks if c.ok} == set()
    assert "BROKEN" in (tmp_path / "index.html").read_text()
    assert [s.name for s in report.sections if isinstance(s, SvgFigure)] == ["topology"]  # no fabric carried anything
    assert "scheme=cpu: one of compnet, ghn, gpu_native, hdn" in (tmp_path / "console.node0.log").read_text()
