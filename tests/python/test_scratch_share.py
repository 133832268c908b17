# SPDX-License-Identifier: Apache-2.0
"""How much of what kernels move is their own stacks: network code that one lane executes must not make all lanes store
registers, and loops of applications must not have more values alive than there are registers."""

import fabricvp
import pytest

SERVE = "groups=30 items=1024 multiply=1 bytes=61440 rounds=2"


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "machine, options, limit",
    [
        # measured, before and after network code had functions and local data share of its own
        ("gpurdma_pair", f"serve=hart {SERVE}", 0.2),  # 0.85, 0.14
        ("gpurdma_pair", f"serve=kernel replies=30 {SERVE}", 0.1),  # 0.59, 0.04
        ("gpurdma_pair", "messages=256 runs=1", 0.62),  # 0.67, 0.58; one lane, whose entries and records are as many
        ("gpurdma_pair", "messages=512 runs=1 lanes=32 batch=32 window=256 signal=32", 0.45),  # 0.49, 0.40
        ("gpurdma_cluster_4", "work=reduce groups=4 count=4096 rounds=3", 0.3),  # 0.45, 0.24
        ("gpurdma_cluster_4", "work=hash groups=4 count=256 universe=1000", 0.12),  # 0.17, 0.08
        ("compnet_4", "work=reduce scheme=compnet groups=4 bytes=65536 rounds=2", 0.25),  # 0.49, 0.20
        ("compnet_4", "work=reduce scheme=gpu_native groups=4 bytes=65536 rounds=2", 0.33),  # 0.49, 0.28
        ("compnet_4", "work=jacobi scheme=gpu_native rows=64 columns=64 groups=4 iterations=10", 0.1),  # 0.16, 0.06
    ],
)
def test_kernels_of_the_network_do_not_move_their_stacks(machine, options, limit):
    with fabricvp.spawn(machine, node__images__append=options) as platform:
        ended = platform.run("100 ms")
        assert ended.outcome == fabricvp.Outcome.POWER_OFF, ended.detail
        values = platform.statistics.snapshot()
    assert 0 < share(values) < limit


def share(values):
    scratch, transactions = (
        sum(value for name, value in values.items() if ".memory.unit" in name and name.endswith(f".{what}"))
        for what in ("scratch", "transactions")
    )
    return scratch / transactions


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "app, size, limit",
    [  # measured, before and after: loops of a fixed count unrolled, loads where they are used
        ("euler3d_like", 2048, 0.12),  # 0.87, 0.06
        ("lulesh_like", 8, 0.25),  # 0.82, 0.18
        ("lenet", 2, 0.02),  # 0.58, 0
        ("comd_like", 2, 0.02),
        ("hpgmg_like", 8, 0.02),
    ],
)
def test_kernels_of_applications_do_not_move_their_stacks(app, size, limit):
    with fabricvp.spawn("gpu", app=app, size=size) as platform:
        platform.run()
        assert platform.app_ok
        assert share(platform.statistics.snapshot()) < limit, share(platform.statistics.snapshot())
