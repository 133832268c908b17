# SPDX-License-Identifier: Apache-2.0
"""What must hold after every run: statistics that balance, and memory that does not grow."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

MIB = 1 << 20


def impossible(values: Mapping[str, float]) -> list[str]:
    """Statistics of a run at rest that cannot be."""
    wrong = []
    for path, value in values.items():
        if path.endswith((".packets_in_flight", ".packets.in_flight")) and value:
            wrong.append(f"{path} is {value:g} at rest")
        if value is not None and value < 0:
            wrong.append(f"{path} is {value:g}, below 0")
        if path.endswith(".utilisation") and value > 1.0000001:
            wrong.append(f"{path} is {value:g}, above 1")
    return wrong


def unbalanced(values: Mapping[str, float], losses: Collection[str] = ()) -> list[str]:
    """What does not balance in the counters of a whole run that has come to rest. ``losses``: reasons for which ports
    of the network may have dropped packets."""
    wrong = []
    for fabric in sorted({m[0] for p in values if (m := re.match(r"node\d+\.fabric\.(?=\w+\.packets_sent$)", p))}):

        def total(name: str, fabric: str = fabric) -> float:
            wanted = re.compile(rf"{re.escape(fabric)}\w+\.{name}")
            return sum(v for p, v in values.items() if wanted.fullmatch(p))

        sent, received, failed = total("packets_sent"), total("packets_received"), total("packets_failed")
        if sent != received + failed:
            wrong.append(f"{fabric} {sent:g} packets were sent, {received:g} received, {failed:g} failed")
        if (made := total("requests_sent")) != (served := total("requests_served")) and not failed:
            wrong.append(f"{fabric} {made:g} requests were sent, {served:g} served")
    sent = sum(v for p, v in values.items() if re.fullmatch(r"network\.generator\d+\.sent", p))
    received = sum(v for p, v in values.items() if re.fullmatch(r"network\.generator\d+\.(received|late|corrupt)", p))
    dropped = values.get("network.packets.dropped", 0)
    if sent != received + dropped:
        wrong.append(f"generators sent {sent:g} packets and received {received:g}; {dropped:g} were dropped")
    reasons: Counter[str] = Counter()
    for path, value in values.items():
        if m := re.fullmatch(r"network\..*\.dropped\.(\w+)", path):
            reasons[m[1]] += int(value)
    if dropped != reasons.total():
        wrong.append(f"{dropped:g} packets were dropped; ports count {reasons.total()}")
    wrong += [f"{n} packets were dropped as {r}" for r, n in sorted(reasons.items()) if n and r not in losses]
    return wrong


def grows(resident_bytes: Sequence[int], allowed: int = 4 * MIB) -> str:
    """Says so if memory grows from the second quarter of equal rounds to the last one; less than ``allowed`` bytes are
    taken for chance."""
    quarter = len(resident_bytes) // 4
    if quarter == 0:
        return ""
    early, late = min(resident_bytes[quarter : 2 * quarter]), min(resident_bytes[-quarter:])
    if late <= early + allowed:
        return ""
    return f"memory grew by {(late - early) / MIB:.1f} MiB in {len(resident_bytes)} rounds"
