#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs self-checking images on QEMU: run_on_qemu.py IMAGE...; exit status 77 if there is no QEMU."""

import shutil
import subprocess
import sys


def passes(image):
    # With one hart QEMU carries out AMOs as a load and a store, and reports their faults as a load's.
    command = ["qemu-system-riscv64", "-M", "virt", "-smp", "2", "-cpu", "rv64", "-bios", image, "-nographic"]
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        print(f"{image}: did not end")
        return False
    print(run.stdout, end="")
    return run.returncode == 0 and run.stdout.startswith("PASS")


def main():
    if not shutil.which("qemu-system-riscv64"):
        print("skipped: qemu-system-riscv64 is not installed (Debian: qemu-system-misc)")
        sys.exit(77)
    results = [passes(image) for image in sys.argv[1:]]
    sys.exit(0 if results and all(results) else 1)


main()
