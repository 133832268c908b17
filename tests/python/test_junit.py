# SPDX-License-Identifier: Apache-2.0
"""Results of scripts for CI servers."""

import os
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import pytest

#: Prints all bytes, the last of them ten times, and `done`.
BYTES = """
_start:
    only_hart_0
    li t1, UART
    li t0, 0
1:  sb t0, 0(t1)
    addi t0, t0, 1
    li t2, 256
    bne t0, t2, 1b
    print text
    power_off {status}
text: .asciz "]]><&\\"' \\357\\277\\277 \\303\\244 done\\n"
"""
GOOD = BYTES.format(status=0)


@pytest.fixture
def suite(command, assemble, tmp_path):
    """Runs a script, and gives the completed process and its test suite."""

    def run(script, source=GOOD):
        (tmp_path / "a.script").write_text(script)
        done = command(
            "run",
            "bare",
            "--firmware",
            assemble(source),
            "--script",
            "a.script",
            "--junit",
            "r.xml",
            "--console",
            "none",
        )
        found = ElementTree.parse(tmp_path / "r.xml").getroot()
        assert found.tag == "testsuites" and len(found) == 1
        return done, found[0]

    return run


def cases(suite):
    return [
        (c.get("name"), "failure" if c.find("failure") is not None else "skipped" if len(c) else "passed")
        for c in suite.iter("testcase")
    ]


def test_each_line_is_a_test_case(suite):
    done, found = suite('expect "do"\n# no line\nexpect /ne$/\ntype "<&>"\n')
    assert done.returncode == 0, done.stderr
    assert cases(found) == [
        ('1: expect "do"', "passed"),
        ("3: expect /ne$/", "passed"),
        ('4: type "<&>"', "passed"),
        ("end of the run", "passed"),
    ]
    assert found.get("name") == "node0: a.script"
    assert (found.get("tests"), found.get("failures"), found.get("skipped")) == ("4", "0", "0")
    seconds = [float(c.get("time")) for c in found.iter("testcase")]
    assert 0 < seconds[0] < 1 and seconds[2] == 0
    # What XML cannot hold is shown, whatever a guest prints; the rest is as it was.
    text = found.find("system-out").text
    assert r"\x00\x01" in text and r"\xff" in text and "]]><&\"' " in text and "ä done" in text


def test_a_line_that_does_not_come(suite):
    done, found = suite('timeout 1 ms\nexpect "done"\nexpect "never"\ntype "x"\n', BYTES.replace("power_off", "j .#"))
    assert done.returncode == 1, done.stderr
    assert [how for _, how in cases(found)] == ["passed", "failure", "skipped", "passed"]
    failure = found.find(".//failure")
    assert "a.script:3" in failure.text and failure.text == failure.get("message")
    assert (found.get("failures"), found.get("skipped")) == ("1", "1")


def test_a_guest_that_ends_before(suite):
    done, found = suite('expect "done"\nexpect "never"\n')
    assert done.returncode == 1 and [how for _, how in cases(found)] == ["passed", "failure", "passed"], done.stderr


def test_a_guest_that_fails_behind_the_script(suite):
    done, found = suite("expect done\nfinish\n", BYTES.format(status=3))
    assert done.returncode == 1 and cases(found)[-1] == ("end of the run", "failure"), done.stderr
    assert "reported failure 3" in found.find(".//failure").text


def test_times_are_simulated(suite, tmp_path):
    suite("expect done\n")
    first = (tmp_path / "r.xml").read_bytes()
    suite("expect done\n")
    assert (tmp_path / "r.xml").read_bytes() == first


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--junit", "r.xml"], "--junit needs --script"),
        (["--junit", "no/where.xml", "--script", "a.script"], "no/where.xml"),
        (["--junit", ".", "--script", "a.script"], "."),
    ],
)
def test_bad_input(arguments, says, command, tmp_path):
    (tmp_path / "a.script").write_text("expect x\n")
    done = command("run", "bare", *arguments)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_results_go_through_a_fifo_and_to_devices(command, assemble, tmp_path):
    (tmp_path / "a.script").write_text("expect done\n")
    os.mkfifo(tmp_path / "pipe")
    run = ("run", "bare", "--firmware", assemble(GOOD), "--script", "a.script", "--console", "none", "--junit")
    with ThreadPoolExecutor() as pool:
        seen = pool.submit((tmp_path / "pipe").read_bytes)
        done = command(*run, "pipe")
        assert done.returncode == 0, done.stderr
        assert ElementTree.fromstring(seen.result(timeout=100)).tag == "testsuites"
    assert (tmp_path / "pipe").is_fifo()  # no file in its place
    os.symlink("/dev/full", tmp_path / "full")
    done = command(*run, "full")
    assert done.returncode == 2 and "No space left" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert (tmp_path / "full").is_char_device()
