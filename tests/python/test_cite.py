# SPDX-License-Identifier: Apache-2.0
"""`fabricvp cite`: entries follow from what a machine has."""

import re

import pytest


def cited(done):
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("{") == done.stdout.count("}")
    return re.findall(r"^@\w+\{(\w+),$", done.stdout, re.M)


@pytest.mark.parametrize(
    "config, entries",
    [
        ("hello", ["fabricvp"]),
        ("rdma_pair", ["fabricvp"]),
        ("netcrafter_quad_on", ["fabricvp", "netcrafter", "pcie_congestion"]),
        ("cs_storm", ["fabricvp", "pcie_congestion"]),
        ("gpurdma_pair", ["fabricvp", "pcie_congestion", "gpurdma", "compnet"]),
        ("cluster", ["fabricvp", "netcrafter", "numa_aware_gpus", "pcie_congestion", "gpurdma", "compnet"]),
    ],
)
def test_entries_follow_from_the_machine(command, config, entries):
    assert cited(command("cite", config)) == entries


def test_help_has_an_example_and_bad_input_ends_in_one_line(command):
    assert "example: fabricvp cite netcrafter_quad_on" in command("cite", "--help").stdout
    done = command("cite", "no_such_machine")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
