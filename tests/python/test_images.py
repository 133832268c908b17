# SPDX-License-Identifier: Apache-2.0
"""The firmware that is shipped, as files."""

import subprocess

import fabricvp
import pytest
from conftest import REPOSITORY


@pytest.mark.timeout(600)
def test_guests_are_the_same_whatever_folder_they_were_built_in(tmp_path):
    """What a guest finds in its memory never names the folder of the build, whose length would move addresses and with
    them times."""
    names = fabricvp.firmwares()
    assert len(names) > 100
    for name in names:
        loaded = tmp_path / "loaded"
        subprocess.run(
            ["riscv64-unknown-elf-strip", "--strip-unneeded", "-o", loaded, fabricvp.firmware_path(name)],
            check=True,
            timeout=100,
        )
        assert str(REPOSITORY).encode() not in loaded.read_bytes(), name
