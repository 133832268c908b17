# SPDX-License-Identifier: Apache-2.0
"""Command-processor firmware of one's own: a key of the configuration, whatever program the host runs."""

import json
import shutil
import subprocess

import fabricvp
import pytest

KEY = "node.gpu0.processor.firmware"
APP = ("run", "gpu", "--app", "spmv", "--size", "256")


@pytest.fixture
def stock(tmp_path):
    """The project's own, as a user's file."""
    return shutil.copy(fabricvp.firmware_path("cp"), tmp_path / "mine.elf")


def assembled(path, source, address="0xff000000004000"):
    assembly = path.with_suffix(".S")
    assembly.write_text(f".globl _start\n_start:\n{source}\n")
    flags = ["-nostdlib", "-static", "-march=rv64imac_zicsr", "-mabi=lp64", "-Wl,--no-warn-rwx-segments"]
    flags += [f"-Wl,-n,-Ttext={address}"]
    subprocess.run(["riscv64-unknown-elf-gcc", *flags, "-o", path, assembly], check=True, timeout=100)
    return path


def test_a_stock_application_runs_with_it(command, tmp_path, stock):
    command(*APP, "--out", "usual")
    done = command(*APP, "--set", f"{KEY}=mine.elf", "--out", "own")  # from where the command runs
    assert done.returncode == 0 and "spmv       ok" in done.stdout, done.stdout + done.stderr
    regions = [json.loads((tmp_path / run / "regions.json").read_text())[-1] for run in ("usual", "own")]
    times = [region["to_s"] - region["from_s"] for region in regions]
    assert times[0] == pytest.approx(times[1], rel=1e-6) and regions[0]["label"] == "kernels"
    assert f"firmware: {tmp_path / 'mine.elf'}" in (tmp_path / "own" / "config.resolved.yaml").read_text()
    again = command("run", "own/config.resolved.yaml", "--out", "again")
    assert again.returncode == 0, again.stderr
    values = [json.loads((tmp_path / folder / "stats.json").read_text()) for folder in ("own", "again")]
    assert [v.pop("sim.wall_s") > 0 for v in values] == [True, True] and values[0] == values[1]
    named = command(*APP, "--set", f"{KEY}=firmware:cp.elf", "--out", "named")
    assert (
        named.returncode == 0
        and 'firmware: "firmware:cp.elf"' in (tmp_path / "named" / "config.resolved.yaml").read_text()
    )


def test_it_is_this_one_that_runs(command, tmp_path):
    """One that does nothing never says that it is ready."""
    assembled(tmp_path / "idle.elf", "1: wfi\n j 1b")
    done = command(*APP, "--set", f"{KEY}=idle.elf")
    assert done.returncode != 0 and "gpu0: the command processor does not come up" in done.stdout, done.stdout


def test_a_fault_of_it_is_named_by_no_other_file(command, tmp_path):
    """Symbols are not those of the firmware that the host's program has with it."""
    record = """
 li a0, 0xff000000003000     # struct gpu_fault_log
 li t0, 1
 sw t0, 0(a0)                # a record was written
 li t0, 35                   # GPU_FAULT_FIRMWARE
 sw t0, 64(a0)
 la t0, _start
 sd t0, 80(a0)               # its pc
 li a0, 0xff00001000008c     # CP_FIRMWARE_STATE
 li t0, 1                    # GPU_FIRMWARE_READY
 sw t0, 0(a0)
 1: wfi
 j 1b"""
    assembled(tmp_path / "faulty.elf", record)
    done = command(*APP, "--set", f"{KEY}=faulty.elf")
    assert done.returncode == 1 and "gpu0 fault: firmware trap" in done.stdout, done.stdout + done.stderr
    assert "_start" not in done.stdout and "0xff000000004000" in done.stdout, done.stdout


def test_paths_start_from_the_file_that_names_them(command, tmp_path, stock):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "lower.yaml").write_text("base: gpu\nnode: {gpu0: {processor: {firmware: ../mine.elf}}}\n")
    (tmp_path / "upper.yaml").write_text("base: below/lower.yaml\n")
    for machine in ("upper.yaml", "below/lower.yaml"):
        done = command("run", machine, *APP[2:])
        assert done.returncode == 0 and "spmv       ok" in done.stdout, done.stdout + done.stderr
    (tmp_path / "mine.elf").unlink()
    done = command("check", "upper.yaml")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "below/lower.yaml:2: node0.gpu0.processor.firmware" in done.stderr and "no such file" in done.stderr


def test_from_python(stock):
    with fabricvp.spawn("gpu", app="spmv", size=256, node__gpus__0__processor__firmware=stock) as platform:
        assert platform.run().outcome == "power_off" and platform.app_ok


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda path: None, "no such file"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.write_text("text"), "not an ELF file"),
        (lambda path: path.write_bytes(fabricvp.firmware_path("cp").read_bytes()[:3000]), "truncated ELF file"),
        (lambda path: shutil.copy(fabricvp.firmware_path("hello"), path), "where firmware/cp/cp.ld begins"),
        (lambda path: assembled(path, ".space 300000"), "outside of the command processor's 262144 bytes"),
        (lambda path: assembled(path, "nop", "0xff000010000000"), "outside of the command processor's 262144 bytes"),
    ],
)
def test_a_file_that_cannot_be(make, says, command, tmp_path):
    make(tmp_path / "wrong.elf")
    done = command(*APP, "--set", f"{KEY}=wrong.elf", "--out", "out")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert f"--set '{KEY}=wrong.elf': node0.gpu0.processor.firmware: " in done.stderr and says in done.stderr
    assert not (tmp_path / "out").exists()
