# SPDX-License-Identifier: Apache-2.0
"""Machines whose clocks differ by per mille, and what figures spread over them."""

import fabricvp
import pytest
from fabricvp.data import resolve_config
from fabricvp.errors import InputError
from fabricvp.experiments import perturbations
from fabricvp.experiments.compnet import CLOCKS, MACHINES
from fabricvp.experiments.page_layout import spread_grid
from fabricvp.experiments.perturbations import perturbed_clock, perturbed_clocks, perturbed_text, spread_table


def test_a_clock_is_per_mille_faster():
    assert perturbed_clock("745 MHz", 2) == "746490000 Hz" and perturbed_clock("1.5 GHz", -1) == "1498500000 Hz"
    assert perturbed_clock("745 MHz", 0) == "745 MHz"
    for text in ("745", "fast MHz", "1 THz"):
        with pytest.raises(InputError, match="no frequency such as 745 MHz"):
            perturbed_clock(text, 1)


@pytest.mark.parametrize("machine, clocks", [("gpurdma_pair", 3), ("gpurdma_modern", 3)])
def test_all_clocks_of_a_machine_move_together(machine, clocks):
    with open(resolve_config(machine)) as file:
        text = file.read()
    assert perturbed_text(text, 0) == text
    before, after = text.splitlines(), perturbed_text(text, -1).splitlines()
    changed = [(a, b) for a, b in zip(before, after) if a != b]
    assert len(before) == len(after) and len(changed) == clocks and all(b.strip().endswith(" Hz") for _, b in changed)
    with pytest.raises(InputError, match="names no clock"):
        perturbed_text("base: gpurdma_pair\n", 1)


@pytest.mark.parametrize("machine", [*MACHINES.values(), "compnet_apu_pair"])
def test_clocks_of_compnet_are_those_of_its_machines(machine):
    def clocks(step):
        with fabricvp.spawn(machine, overrides=perturbed_clocks(CLOCKS, step)) as platform:
            return [platform.config[path.replace("node.", f"node{n}.")] for path in CLOCKS for n in (0, 1)]

    assert perturbed_clocks(CLOCKS, 0) == {}
    assert clocks(2) == pytest.approx([1.002 * hertz for hertz in clocks(0)], rel=1e-9)


def test_a_table_of_spread():
    assert len(perturbations.PERTURBATIONS) >= 5 and perturbations.PERTURBATIONS[0] == 0
    assert len(perturbations.steps(quick=True)) == 3
    line = spread_table({"time, µs": [2.0, 1.0, 6.0]}).iloc[0]
    assert line.to_dict() == {"what": "time, µs", "runs": 3, "mean": 3.0, "min": 1.0, "max": 6.0}


def test_a_table_of_spread_by_row_and_column():
    found = {("a over b", "16²"): [2.0, 1.0, 6.0], ("a over b", "32²"): [1.0, 1.0], ("c over b", "16²"): [0.5, 0.51]}
    table = spread_grid("side")({"spread": perturbations.spread_grid(found)})
    assert list(table.columns) == ["side", "16²", "32²"]
    assert [list(row) for row in table.rows] == [
        ["a over b", "3.000 (1.000 to 6.000)", "1.000"],
        ["c over b", "0.5050 (0.5000 to 0.5100)", ""],
    ]
