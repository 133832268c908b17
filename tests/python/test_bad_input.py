# SPDX-License-Identifier: Apache-2.0
"""What callers get wrong is an `InputError` of one line, and the machine is not harmed. Configurations, overrides,
images and options are in tests/system (bad_input_test.py, bad_machines_test.py)."""

import os
import re

import fabricvp
import guests
import pytest
from fabricvp.overrides import flatten


def test_a_wrong_configuration_is_an_input_error():
    with pytest.raises(fabricvp.InputError, match="nodse") as caught:
        fabricvp.spawn(text="nodse: 1")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_overrides_in_all_forms(tmp_path):
    assert flatten({"a.b": True, "c": {"d": 1.5, "e": {"f": "x"}}}, {"g__h": [1, 2], "i": tmp_path}) == {
        "g.h": "[1, 2]",
        "i": str(tmp_path),
        "a.b": "true",
        "c.d": "1.5",
        "c.e.f": "x",
    }
    with pytest.raises(fabricvp.InputError, match="no value of a configuration"):
        flatten({"a": object()}, {})
    with pytest.raises(fabricvp.InputError, match="overrides: a mapping of paths to values, not list"):
        flatten(["a"], {})


@pytest.mark.parametrize(("option", "value"), [("size", "4096"), ("size", 2.5), ("gpus", "1"), ("gpus", True)])
def test_numbers_of_applications_have_their_type(option, value):
    with pytest.raises(
        TypeError, match=re.escape(f"application vectoradd: {option}={value!r}: must be a whole number")
    ):
        fabricvp.spawn("gpu", app="vectoradd", **{option: value})


def test_an_image_that_is_none_leaves_the_platform_usable(machine, tmp_path):
    image = tmp_path / "image"
    image.write_bytes(b"\x7fELF\x02\x01\x01" + b"\xff" * 100)
    platform = machine()
    with pytest.raises(fabricvp.InputError) as caught:
        platform.load_elf(image)
    assert "\n" not in str(caught.value) and "image" in str(caught.value)
    assert platform.run("1 us").outcome in ("time_limit", "idle")


@pytest.mark.parametrize("key", ["firmware", "kernel", "initrd"])
def test_an_image_that_is_not_there_is_told_with_where_it_is_named(command, tmp_path, key):
    (tmp_path / "there").write_bytes(bytes(64))
    others = "" if key == "firmware" else "    firmware: there\n" + "    kernel: there\n" * (key == "initrd")
    (tmp_path / "m.yaml").write_text(f"base: bare\nnode:\n  images:\n{others}    {key}: none\n")
    line = 4 + others.count("\n")
    for verb in ("check", "run"):
        done = command(verb, "m.yaml")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"m.yaml:{line}: node0.images.{key}: " in done.stderr and "none: no such file" in done.stderr
    if key == "firmware":  # what the command line names stands in no file
        done = command("run", "m.yaml", "--firmware", "other")
        assert done.returncode == 2 and "other: no such file" in done.stderr and "m.yaml" not in done.stderr


def test_binaries_that_do_not_fit(machine, tmp_path):
    platform = machine(guests.HELLO, node__host__memory="16 MiB")
    image = tmp_path / "image"
    image.write_bytes(bytes(4096))
    for address in (0x8100_0000 - 4095, 0, 2**64 - 100):
        with pytest.raises(fabricvp.InputError):
            platform.load_binary(image, address)


def test_a_recording_that_was_not_begun(machine):
    with pytest.raises(fabricvp.InputError, match="nothing is being recorded"):
        machine().finish_recording()


def test_symbols_of_what_is_no_elf_file(machine, tmp_path):
    (tmp_path / "text").write_text("no program")
    for file, says in (
        (tmp_path / "text", "is no ELF file"),
        (tmp_path, "is a folder"),
        (tmp_path / "none", "no such file"),
    ):
        with pytest.raises(fabricvp.InputError, match=says):
            machine().add_symbols(file)


def test_a_folder_may_be_given_in_bytes(run_script):
    run_script(
        """
        import os, fabricvp
        with fabricvp.Platform.from_config("hello") as platform:
            platform.run()
            platform.write_results(b"out")
        assert os.path.exists("out/machine.svg")
        """
    )


def test_words_of_a_script_that_are_no_utf_8(run_script):
    run_script('import fabricvp; fabricvp.Platform.from_config("hello").close()', os.fsdecode(b"\xff"))


def test_ports_that_are_taken(machine):
    port = machine().listen_gdb()
    assert 0 < port < 65536
    with pytest.raises(fabricvp.InputError):
        machine().listen_gdb(port)
