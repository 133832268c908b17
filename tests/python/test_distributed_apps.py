# SPDX-License-Identifier: Apache-2.0
"""Applications over all GPUs of all nodes, from Python: their inputs follow from the seed, and a wrong word in the
memory of any GPU makes them fail."""

import fabricvp
import numpy
import pytest

MASK = (1 << 64) - 1
SIZES = {"allreduce": 600, "mm_ring": 40, "halo": 16}
#: A machine, its nodes, GPUs of a node: joined by a fabric, and by a network.
MACHINES = [("netcrafter_quad", 1, 4), ("compnet_pair", 2, 1), ("cluster", 2, 4)]


def drawn(row, column, seed):
    """As distributed_random() in firmware/programs/distributed."""
    z = ((row << 32 | column) + (seed - 1) * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return (z ^ z >> 31) >> 32


def first_words(app, member, members, seed):
    """The beginning of what a GPU has as its input."""
    match app:
        case "allreduce":
            values = [drawn(0, i, seed) % 251 * (member + 1) + member for i in range(16)]
        case "mm_ring":
            row = SIZES[app] * member // members
            values = [drawn(row, k, seed) % 7 - 3 for k in range(16)]
        case "halo":
            values = [(drawn(SIZES[app] * member, x, seed) & 0xFFFF) / 65536 for x in range(16)]
    return numpy.array(values, dtype="<f4").tobytes()


def where(gpu, words):
    """Offset of a copy in a GPU's memory; none: -1."""
    return gpu.memory.read(0, 64 << 20).find(words)


def started(machine, app, **options):
    """A machine whose GPUs have their inputs, and have not begun."""
    platform = fabricvp.spawn(machine, **options)
    platform.load_app(app, size=SIZES[app])
    assert platform.run("1 s", until=fabricvp.Marker(kind="reset")).outcome == "event"
    return platform


@pytest.mark.parametrize("app", SIZES)
@pytest.mark.parametrize(("machine", "nodes", "gpus"), MACHINES)
def test_a_wrong_word_is_found(machine, nodes, gpus, app):
    with started(machine, app) as platform:
        all_gpus = [gpu for node in platform.nodes for gpu in node.gpus]
        assert len(all_gpus) == nodes * gpus
        member = len(all_gpus) - 1
        memory = all_gpus[member].memory
        at = where(all_gpus[member], first_words(app, member, len(all_gpus), 1))
        assert at >= 0
        # Of `halo`, a cell of the member's own; the first row belongs to others.
        at += 4 * (256 + 9 if app == "halo" else 9)
        (value,) = numpy.frombuffer(memory.read(at, 4), "<f4")
        memory.write(at, numpy.float32(value + 1).tobytes())
        result = platform.run("1 s")
        assert result.outcome == "guest_failure", result
        assert platform.app_ok is False
        texts = [node.console.output for node in platform.nodes]
        assert any(f"{app:10} FAILED" in text and " is wrong" in text for text in texts), texts


@pytest.mark.parametrize("app", SIZES)
def test_the_seed_reaches_inputs(app):
    machine, _, members = MACHINES[0]
    for seed in 1, 5:
        with started(machine, app, simulation__seed=seed) as platform:
            for member, gpu in enumerate(platform.nodes[0].gpus):
                assert where(gpu, first_words(app, member, members, seed)) >= 0
                assert where(gpu, first_words(app, member, members, 6 - seed)) < 0
            assert platform.run("1 s").outcome == "power_off"
            assert platform.app_ok is True
