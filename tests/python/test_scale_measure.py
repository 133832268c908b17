# SPDX-License-Identifier: Apache-2.0
"""What `fabricvp experiment scale` counts as the time of packet-hops."""

import subprocess
import sys
import types

import pytest


@pytest.mark.timeout(300)
def test_reading_statistics_is_not_in_the_time() -> None:
    """In a process of its own, since it holds a machine."""
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def main() -> None:
    """By a clock on which a second of simulation takes 1e6, and each reading of statistics 1,000."""
    from fabricvp.experiments.scale import measure
    from fabricvp.platform import Platform

    clock = [0.0]
    run, snapshot = Platform.run, measure._counts

    def timed_run(platform: Platform, time: float) -> object:
        clock[0] += 1e6 * time
        return run(platform, time)

    def timed_counts(platform: Platform) -> tuple[float, float]:
        clock[0] += 1_000
        return snapshot(platform)

    measure.time = types.SimpleNamespace(process_time=lambda: clock[0])
    measure._counts = timed_counts
    Platform.run = timed_run
    cost = measure.run_load(measure.Load(4, "uniform", 5_000))
    assert cost.hops > 4_000
    assert 0 < cost.seconds < 100
    assert cost.seconds < 1e6 * cost.simulated


if __name__ == "__main__":
    main()
