# SPDX-License-Identifier: Apache-2.0
"""Random machines, programs and corrected faults, each from a seed."""

import random
from dataclasses import dataclass, field
from typing import Any

#: Applications that check their own result, with sizes that take about a second.
PROGRAMS = {
    "vectoradd": (1024, 65536),
    "transpose": (64, 256),
    "fir": (1024, 16384),
    "spmv": (128, 512),
    "reduction": (4096, 65536),
    "histogram": (4096, 65536),
    "stencil": (32, 96),
    "mm": (16, 64),
    "bitonicsort": (1024, 4096),
    "mvt": (64, 256),
    "jacobi2d": (64, 256),
    "pagerank": (128, 512),
    "mis": (512, 4096),
    "locks": (64, 256),
}


#: Reasons for which ports of a network drop packets, by the kind of fault. Nothing there sends a packet again.
LOSSES = {"bit_errors": {"corrupted"}, "loss": {"injected"}, "drop": {"injected"}, "down": {"link_down"}}


@dataclass(frozen=True)
class Drawn:
    """A machine as YAML, the application that it runs (empty: none) with arguments of `Platform.load_app()`, how long,
    and reasons for which its network may drop packets."""

    yaml: str
    program: str = ""
    app: dict[str, Any] = field(default_factory=dict)
    time: str | None = None
    losses: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.program} {self.app}\n{self.yaml}"


def random_machine(seed: int) -> Drawn:
    """A machine of one node with one to four GPUs that one or two switches link."""
    d = random.Random(f"machine {seed}")
    gpus = d.choice((1, 2, 2, 3, 4))
    clusters = d.choice((1, 2)) if gpus > 1 else 1
    lines = [
        f"simulation: {{seed: {d.randrange(1, 1000)}, quantum: {d.choice((100, 500, 1000))} ns, watchdog: 1 s}}",
        "node:",
        f"  host: {{memory: 256 MiB, memory_timing: {d.choice(('flat', 'caches'))},"
        f" hart: {{clock: {d.choice((1, 2, 4))} GHz}}}}",
        "  pcie:",
        "    switches: [{name: switch0}]",
        "  gpus:",
    ]
    for _ in range(gpus):
        l1, l2, line = d.choice((16, 32, 64)), d.choice((1, 2, 4)), d.choice((1, 2, 4))
        lines.append(
            f"    - {{below: switch0, compute_units: {d.choice((1, 2, 4, 8, 16))}, clock: {d.choice((800, 1000, 1700))}"
            f" MHz, link: {{width: {d.choice((4, 8, 16))}, generation: {line + 1}}},"
            f" memory: {{capacity: 512 MiB, unit: {{l1: {{size: {l1} KiB}}}}, l2: {{size: {l2} MiB}}}}}}"
        )
    if gpus > 1:
        lines += ["  fabric:", "    switches:"]
        stage = d.choice(("", "", ", stage: {kind: netcrafter, stitching: true, trimming: true, pooling: selective}"))
        for c in range(clusters):
            lines.append(f"      - {{name: cluster{c}, cluster: {c}{stage if clusters > 1 else ''}}}")
        lines.append("    links:")
        rate = d.choice((2, 4, 16))
        lines += [
            f"      - {{from: gpu{g}, to: cluster{g % clusters}, lanes: 8, lane_rate: {rate} GB/s}}"
            for g in range(gpus)
        ]
        if clusters > 1:
            lines.append(f"      - {{from: cluster0, to: cluster1, lanes: {d.choice((1, 4, 8))}, lane_rate: 2 GB/s}}")
    faults = random_faults(d, gpus, clusters)
    if faults:
        lines += ["faults:", *faults]
    program = d.choice(sorted(PROGRAMS))
    low, high = PROGRAMS[program]
    size = 2 ** d.randint(low.bit_length() - 1, high.bit_length() - 1)
    app: dict[str, Any] = {"size": max(size, low)}
    if gpus > 1 and d.random() < 0.5:
        app["placement"] = d.choice(("contiguous", "interleaved"))
        app["dispatch"] = d.choice(("contiguous", "round_robin"))
    return Drawn("\n".join(lines) + "\n", program, app)


def random_faults(d: random.Random, gpus: int, clusters: int) -> list[str]:
    """Up to three faults that links correct, so that the program's result stays right."""
    found = []
    for _ in range(d.choice((0, 0, 1, 2, 3))):
        at = f"{d.uniform(0, 2000):.3f} us"
        rate = f"{10 ** d.uniform(-8, -5):.3g}"
        lasting = d.choice(("0 ps", f"{d.uniform(1, 500):.3f} us"))
        targets = [f"node0.gpu{d.randrange(gpus)}.link", "node0.pcie.switch0.upstream_port"]
        if gpus > 1:
            g = d.randrange(gpus)
            targets += [f"node0.fabric.gpu{g}.link", f"node0.fabric.cluster{g % clusters}.to_gpu{g}"]
        found.append(
            f"  - {{at: {at}, target: {d.choice(targets)}, kind: bit_errors, rate: {rate}, lasting: {lasting}}}"
        )
    return found


def random_network(seed: int) -> Drawn:
    """Traffic generators on leaf switches below spines."""
    d = random.Random(f"network {seed}")
    spines, leaves, each = d.randint(1, 3), d.randint(2, 4), d.randint(1, 4)
    lines = [f"simulation: {{seed: {d.randrange(1, 1000)}, watchdog: 0 ps}}", "network:", "  switches:"]
    lines += [f"    - {{name: spine{i}}}" for i in range(spines)] + [f"    - {{name: leaf{i}}}" for i in range(leaves)]
    lines.append("  links:")
    lines += [f"    - {{from: leaf{i}, to: spine{j}}}" for i in range(leaves) for j in range(spines)]
    lines += [f"    - {{from: generator{g}, to: leaf{g // each}}}" for g in range(leaves * each)]
    lines.append("  generators:")
    payload = d.choice(("64 B", "256 B", "2 KiB"))
    lines += [
        f"    - {{name: generator{g}, pattern: all_to_all, packets: {d.randint(10, 400)}, payload: {payload}}}"
        for g in range(leaves * each)
    ]
    faults = []
    losses: set[str] = set()
    for _ in range(d.choice((0, 1, 2, 4))):
        target = f"network.generator{d.randrange(leaves * each)}.link"
        kind, arguments = d.choice(
            (
                ("bit_errors", f"rate: {10 ** d.uniform(-7, -4):.3g}"),
                ("loss", f"rate: {d.uniform(0.001, 0.3):.3g}"),
                ("drop", f"count: {d.randint(1, 4)}"),
                ("down", f"lasting: {d.uniform(1, 50):.3f} us"),
            )
        )
        faults.append(f"  - {{at: {d.uniform(0, 100):.3f} us, target: {target}, kind: {kind}, {arguments}}}")
        losses |= LOSSES[kind]
    if faults:
        lines += ["faults:", *faults]
    return Drawn("\n".join(lines) + "\n", time="50 ms", losses=frozenset(losses))
