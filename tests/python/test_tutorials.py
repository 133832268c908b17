# SPDX-License-Identifier: Apache-2.0
"""Tutorials are worked through as printed."""

import opencl_machine
import pytest
import tutorials
from conftest import REPOSITORY
from fabricvp.compiler import linux_program
from fabricvp.errors import InputError

LINUX = REPOSITORY / "build" / "linux"
PAGES = sorted((REPOSITORY / "docs" / "tutorials").glob("[!R]*.md"))


def linux_is_missing():
    images = all((LINUX / name).is_file() for name in ("Image", "initramfs.cpio", "initramfs_rdma.cpio"))
    try:
        linux_program.require_cross_tools()
    except InputError:
        return True
    return not images


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_reader_gets_what_the_page_shows(page, tmp_path):
    if "fabricvp cc" in page.read_text():
        opencl_machine.require_compiler()
    if "--program" in page.read_text() and "make linux" in page.read_text() and linux_is_missing():
        pytest.skip("make linux has not made its images and cross libraries")
    wrong = []
    tutorials.work_through(
        page.read_text(),
        tmp_path,
        lambda command, expected, printed: wrong.append("\n".join([f"$ {command}", *printed, "-- shown:", *expected])),
    )
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize(
    ("expected", "same"),
    [
        (["a", "b 0.5 MIPS"], True),
        (["a", "…", "b…"], True),
        (["…", "b…"], True),
        (["a", "…"], True),
        (["…"], True),
        (["b 7 MIPS"], False),
        (["a"], False),
        ([], False),
        (["a", "…", "c"], False),
        (["a b", "…"], False),
    ],
)
def test_what_is_printed_is_compared(expected, same):
    assert tutorials.matches(expected, ["a", "b 7 MIPS"]) == same


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("write bytes=4096 time_ns=2700 at 0x80001b20", True),
        ("write bytes=4096 time_ns=2750 at 0x80002b20", True),
        ("write bytes=4096 time_ns=2760 at 0x80001b20", False),
        ("write bytes=8192 time_ns=2700 at 0x80001b20", False),
        ("write bytes=4096 time_ns=2700 at 12345678", False),
        ("read bytes=4096 time_ns=2700 at 0x80001b20", False),
    ],
)
def test_figures_may_be_off_by_a_fiftieth(printed, same):
    assert tutorials.agree("write bytes=4096 time_ns=2700 at 0x80001b20", printed) == same


def test_pages_do_not_see_the_make_that_runs_the_tests(tmp_path, monkeypatch):
    monkeypatch.setenv("MAKELEVEL", "1")
    monkeypatch.setenv("MAKEFLAGS", "w")
    page = '```make title="Makefile"\nall:\n\t@echo made\n```\n\n```console\n$ make\nmade\n```\n'
    assert tutorials.work_through(page, tmp_path, lambda *about: None) == page


def test_a_page_with_other_output_fails_and_is_rewritten(tmp_path):
    page = '```c title="a.txt"\ntext\n```\n\n```console\n$ cat a.txt\nother\n$ echo $((1 + 2))\n3\n```\n'
    wrong = []
    renewed = tutorials.work_through(page, tmp_path, lambda *about: wrong.append(about))
    assert wrong == [("cat a.txt", ["other"], ["text"])]
    assert renewed == page.replace("other", "text")


def test_a_line_gets_the_figures_of_the_nearest_line_with_its_words():
    shown = ["…", "# rate bytes=4096 time_ps=100", "all ok", "fabricvp: 0.5 s simulated in 2.00 s, 7 MIPS", "0x12 wri…"]
    printed = ["# rate bytes=2 time_ps=99", "# rate bytes=4096 time_ps=105", "x", "fabricvp: 0.6 s simulated in 9.00 s,"
               " 1 MIPS", "0x34 writes"]  # fmt: skip
    unknown = []
    assert tutorials.refreshed(shown, printed, unknown) == [
        "…", "# rate bytes=4096 time_ps=105", "all ok", "fabricvp: 0.6 s simulated in 2.00 s, 7 MIPS", "0x34 wri…"
    ]  # fmt: skip
    assert unknown == ["all ok"]
