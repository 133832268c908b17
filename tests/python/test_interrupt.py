# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, threads and signals while a machine runs."""

import os
import signal
import subprocess
import sys
import time

import guests

# Who runs the tests in a shell's background has Ctrl-C ignored.
FOREVER = """
import signal, sys, fabricvp
signal.signal(signal.SIGINT, signal.default_int_handler)
platform = fabricvp.{make}
platform.load_images(firmware=sys.argv[1])
{started}
try:
    platform.run()
except KeyboardInterrupt:
    print("interrupted", platform.nodes[0].harts[0].x["s1"] > 0, platform.now > 0, platform.running)
before = platform.now_ps
print(platform.run("1 us").outcome, platform.now_ps - before)
"""


def interrupt(script, elf, tmp_path, delay=0.0):
    path = tmp_path / "forever.py"
    path.write_text(script)
    child = subprocess.Popen([sys.executable, path, elf], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "running\n"
        time.sleep(delay)
        child.send_signal(signal.SIGINT)
        sent = time.monotonic()
        output, errors = child.communicate(timeout=200)
        return output, errors, child.returncode, time.monotonic() - sent
    finally:
        child.kill()


def test_ctrl_c_leaves_the_platform_usable(assemble, tmp_path):
    script = FOREVER.format(
        make='Platform.from_text("nodes: 1")', started='platform.call_in("10 us", lambda: print("running", flush=True))'
    )
    output, errors, status, took = interrupt(script, assemble(guests.COUNTS), tmp_path)
    assert output == "interrupted True True False\ntime_limit 1000000\n", errors
    assert (status, errors) == (0, "")
    assert took < 50


def test_ctrl_c_with_a_spawned_platform(assemble, tmp_path):
    script = FOREVER.format(make='spawn(text="nodes: 1")', started='print("running", flush=True)')
    output, errors, status, _ = interrupt(script, assemble(guests.COUNTS), tmp_path, delay=1.0)
    assert output == "interrupted True True False\ntime_limit 1000000\n", errors
    assert (status, errors) == (0, "")


def test_other_threads_and_signals_go_on(run_script, assemble):
    """The GIL is free while the machine runs; Python's signal handlers run, and what they raise ends the run."""
    run_script(
        """
        import signal, sys, threading, time, fabricvp
        platform = fabricvp.Platform.from_text("nodes: 1")
        platform.load_images(firmware=sys.argv[1])
        beats = []
        stop = threading.Event()

        def beat():
            while not stop.wait(0.01):
                beats.append(time.monotonic())
            platform.request_stop()

        thread = threading.Thread(target=beat)
        thread.start()
        threading.Timer(0.5, stop.set).start()
        assert platform.run().outcome == "interrupted"
        thread.join()
        assert len(beats) > 5, beats

        class Alarm(Exception):
            pass

        def ring(*_):
            raise Alarm

        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        started = time.monotonic()
        try:
            platform.run()
        except Alarm:
            assert time.monotonic() - started < 50
        else:
            raise AssertionError("the alarm was lost")
        assert platform.run("1 us").outcome == "time_limit"
        """,
        assemble(guests.COUNTS),
    )


def test_ctrl_c_in_the_command(assemble, tmp_path):
    config = tmp_path / "machine.yaml"
    config.write_text("nodes: 1\n")
    child = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "fabricvp",
            "run",
            config,
            "--firmware",
            assemble(guests.ECHO),
            "--out",
            tmp_path / "out",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert os.read(child.stdout.fileno(), 100).startswith(b"r")
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=200)
    finally:
        child.kill()
    assert b"Traceback" not in errors
    assert child.returncode == 130, errors
    assert (tmp_path / "out" / "stats.json").exists()
