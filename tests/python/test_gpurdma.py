# SPDX-License-Identifier: Apache-2.0
"""RDMA that kernels control: lanes write entries, ring the adapter and poll completions; the far side checks every
byte."""

import fabricvp
import pytest

QUEUES_IN_HOST = "gpu_queues=0 gpu_cqs=0 gpu_records=0 gpu_payload=0"


def run(options, **overrides):
    """Consoles of both nodes, seconds of each run, statistics of the last one."""
    with fabricvp.spawn("gpurdma_pair", node__images__append=options, **overrides) as platform:
        ended = platform.run("100 ms")
        consoles = [node.console.output.replace("\r", "") for node in platform.nodes]
        assert ended.outcome == fabricvp.Outcome.POWER_OFF, (ended.detail, consoles)
        seconds = [line["time_ps"] / 1e12 for line in fabricvp.result_lines(consoles[0], "writes")]
        assert all("writes     ok" in text for text in consoles), consoles
        return consoles, seconds, platform.statistics.snapshot()


def test_one_lane_posts_a_thousand_writes():
    _, seconds, values = run("messages=1024 runs=3")
    assert len(seconds) == 3 and max(seconds) < 1.01 * min(seconds)
    assert (
        values["node0.hca0.send_queues.posted"] >= 1024
        and values["node0.hca0.bad_doorbells"] == 0
        and values["node0.hca0.retries"] == 0
    )
    assert values["node0.gpu0.system.writes"] >= 1024  # doorbells come from lanes; all else stays in the GPU's memory
    assert 2e-6 < seconds[0] / 1024 < 10e-6


def test_the_kernel_is_loaded_before_time_counts():
    with fabricvp.spawn("gpurdma_pair", node__images__append="messages=8 runs=1") as platform:
        platform.run("100 ms")
        copied = platform.regions()["node0", "writes"]["node0.gpu0.host_interface.sdma.bytes_copied"]
        assert copied < 512  # what the host keeps of a poster group; the image is larger


@pytest.mark.parametrize(
    "options, messages",
    [
        (f"messages=64 runs=2 {QUEUES_IN_HOST}", 64),
        ("messages=64 runs=2 size=3 gpu_target=1 gpu_payload=0", 64),
        ("messages=64 runs=2 inline=1", 64),
        ("messages=64 runs=2 reads=1 size=4096", 64),
        ("messages=256 runs=2 reuse=1 window=64 batch=16 signal=16", 256),
        ("messages=510 runs=2 window=512 batch=255 signal=2", 510),
        ("messages=128 runs=2 lanes=32 batch=32 window=64", 128),
        ("messages=64 runs=2 lanes=16 poster_groups=4 groups=3 batch=16 signal=16 window=32", 64 * 12),
        ("messages=32 runs=2 poster_groups=64 window=8 batch=8", 32 * 64),
        ("messages=2 runs=1 size=1048576", 2),
        ("messages=64 runs=2 fence=agent inline=1", 64),
        ("messages=64 runs=2 fence=doorbell gpu_queues=0 gpu_records=0 gpu_cqs=0", 64),
        ("messages=64 runs=2 fence=none window=64 batch=16 lanes=16", 64),
        ("messages=64 runs=2 hart=1", 64),
        ("messages=32 runs=2 hart=1 poster_groups=30 window=32 batch=16 signal=16", 32 * 30),
        (f"messages=64 runs=2 hart=1 {QUEUES_IN_HOST} window=64 batch=16", 64),
        (f"messages=64 runs=3 hart=1 library=1 {QUEUES_IN_HOST}", 64),
        (f"messages=96 runs=2 hart=1 library=1 {QUEUES_IN_HOST} window=64 batch=48 signal=16 size=3", 96),
        ("messages=64 runs=2 hart=1 library=1 inline=1 window=16 signal=16", 64),
        ("messages=64 runs=2 hart=1 library=1 reads=1 size=4096 window=8", 64),
        ("messages=32 runs=2 hart=1 library=1 poster_groups=30 window=32 batch=16 signal=16", 32 * 30),
        ("messages=64 runs=2 fence=agent_doorbell window=16 batch=16", 64),
        (f"messages=64 runs=2 fence=doorbell_only {QUEUES_IN_HOST}", 64),
        ("messages=256 runs=2 fence=doorbell_only window=16", 256),  # over its completion queue many times
        ("messages=256 runs=2 fence=doorbell_only lanes=16 window=16 batch=16", 256),
    ],
)
def test_posting_methods(options, messages):
    consoles, seconds, values = run(options)
    assert [line["messages"] for line in fabricvp.result_lines(consoles[0], "writes")] == [messages] * len(
        seconds
    ) and seconds
    assert (
        values["node0.hca0.bad_doorbells"]
        == values["node0.hca0.retries"]
        == values["node0.hca0.send_queues.failures"]
        == 0
    )


@pytest.mark.parametrize(
    "fence, releases",
    [("none", 0), ("agent", 0), ("agent_doorbell", 0), ("doorbell_only", 1), ("doorbell", 2), ("system", 3)],
)
@pytest.mark.parametrize("queues", ["", QUEUES_IN_HOST])
def test_releases_of_system_scope_a_message(fence, releases, queues):
    """Doorbell, consumer record, doorbell record; each release reads the host's memory where it always does."""

    def flushes(messages):
        options = f"messages={messages} runs=1 fence={fence} {queues}"
        return run(options, node__gpus__0__system__release="always")[2]["node0.gpu0.system.flushes"]

    assert flushes(48) - flushes(16) == releases * 32


def test_batching_is_faster():
    """Nothing but order is asked here; figures stand in the experiments."""
    naive, reused, pipelined, batched, together = (
        run(f"messages=256 runs=1 {how}")[1][0]
        for how in (
            "",
            "reuse=1",
            "reuse=1 window=256",
            "reuse=1 window=256 batch=64 signal=64",
            "lanes=32 batch=32 window=256 signal=32",
        )
    )
    assert naive > reused > pipelined > batched > together


@pytest.mark.parametrize("shape", ["messages=256 window=256", "messages=32 window=32 poster_groups=30 signal=32"])
def test_the_library_costs_more_than_entries_written_before(shape):
    """A hart with a doorbell for each request; the library writes entries in full and keeps its own account."""
    common = f"runs=2 hart=1 {QUEUES_IN_HOST} {shape}"
    _, library, values = run(f"{common} library=1")
    _, prewritten, _ = run(f"{common} reuse=1")
    assert library[-1] > 1.2 * prewritten[-1]
    assert values["node0.hca0.send_queues.posted"] >= 256
    assert library[-1] > 1.2 * run(f"{common} library=1 batch=32")[1][-1]


def test_the_library_rings_once_a_call():
    def doorbells(batch):
        options = f"messages=64 runs=2 hart=1 library=1 {QUEUES_IN_HOST} window=64 batch={batch}"
        return run(options)[2]["node0.hca0.doorbells"]

    assert doorbells(1) - doorbells(16) == 64 - 4  # statistics are those of the last run


@pytest.mark.parametrize("poster", ["", "hart=1 library=1 "])
def test_a_revoked_region_is_the_posters_error(poster):
    consoles, seconds, values = run(f"{poster}messages=64 runs=2 revoke=1 window=64 signal=16 batch=16")
    assert len(seconds) == 1
    assert "0 of 64 messages ended, message 0: remote access" in consoles[0], consoles[0]


def serve(options):
    """Seconds a round, statistics."""
    with fabricvp.spawn("gpurdma_pair", node__images__append=options) as platform:
        ended = platform.run("200 ms")
        consoles = [node.console.output.replace("\r", "") for node in platform.nodes]
        assert ended.outcome == fabricvp.Outcome.POWER_OFF, (ended.detail, consoles)
        assert all("serve      ok" in text for text in consoles), consoles
        (line,) = fabricvp.result_lines(consoles[0], "serve")
        return line["time_ps"] * 1e-12 / line["rounds"], platform.statistics.snapshot()


@pytest.mark.parametrize(
    "options, launches",
    [
        ("serve=hart rounds=5", 0),
        ("serve=hart rounds=4 groups=6 replies=6 bytes=49152", 0),
        ("serve=hart rounds=4 groups=4 bytes=8192 items=64 multiply=1", 6),
        ("serve=hart rounds=3 groups=4 bytes=8192 items=64 multiply=1 staged=1", 5),
        ("serve=hart rounds=3 groups=6 bytes=294912 staged=1 copy_ns=2000", 0),
        ("serve=kernel rounds=5 groups=3 replies=3", 1),
        ("serve=kernel rounds=4 groups=6 replies=6 bytes=49152 own=1", 1),
        ("serve=kernel rounds=3 groups=30 replies=30 bytes=61440 items=1024 multiply=1", 1),
    ],
)
def test_a_worker_answers_every_batch(options, launches):
    _, values = serve(options)
    assert values["node1.gpu0.dispatcher.dispatches"] == launches
    assert (
        sum(
            values[f"node{n}.hca0.{what}"]
            for n in (0, 1)
            for what in ("retries", "bad_doorbells", "send_queues.failures")
        )
        == 0
    )


def test_one_kernel_answers_small_batches_sooner():
    shape = "rounds=4 groups=8 bytes=16384 items=256 multiply=1"
    assert serve(f"serve=kernel replies=8 {shape}")[0] < 0.9 * serve(f"serve=hart {shape}")[0]


def test_runs_are_the_same_to_the_picosecond():
    options = "messages=64 runs=2 lanes=16 poster_groups=4 groups=3 batch=16 signal=16 window=32"
    (text, _, first), (again, _, second) = run(options), run(options)
    assert text == again
    assert [key for key in first if first[key] != second[key] and not key.startswith("sim.")] == []


@pytest.mark.parametrize(
    "options, why",
    [
        ("batch=256 window=256", "batch=256: 1 to 255"),
        ("signal=3 window=8", "signal=3: a power of two"),
        ("batch=8 window=4", "window=4: no less than batch=8"),
        ("inline=1 size=9", "size=9: with inline=1 up to 8"),
        ("hart=1 lanes=2", "hart=1: with groups=1 and lanes=1"),
        ("library=1", "library=1: with hart=1"),
        ("hart=1 library=1 reuse=1", "library=1: not with reuse or timed"),
        ("hart=1 library=1 timed=1", "library=1: not with reuse or timed"),
        ("messages=100 signal=64 window=64", "messages=100: a multiple of signal=64"),
        ("serve=kernel groups=4 replies=1 bytes=4096", "replies=1: of a kernel, groups=4"),
        ("serve=hart groups=3 bytes=100", "bytes=100: a multiple of 24"),
        ("serve=kernel staged=1 bytes=8", "staged=1: with serve=hart, replies=1 and bytes"),
        ("serve=hart bytes=8 copy_ns=5", "copy_ns=5: with staged=1"),
        ("nodes=3", "nodes=3: this machine has 2; leave it out"),
        ("serve=1", "serve=1 is now serve=hart"),
        ("fence=2", "fence=2 is now fence=system"),
        ("fence=gpu", "fence=gpu: one of none, agent, system, doorbell, agent_doorbell, doorbell_only"),
        ("teams=2", "teams=2 is now poster_groups=2"),
        ("lanes=65 poster_groups=64", "poster_groups=64: with lanes=65 no more than 15"),
        ("size=0", "size=0: 1 at least"),
        ("size=1048577", "size=1048577: 1 to 1048576 bytes"),
    ],
)
def test_invalid_options_are_reported(options, why):
    with fabricvp.spawn("gpurdma_pair", node__images__append=options) as platform:
        ended = platform.run("300 ms")
        assert ended.outcome == fabricvp.Outcome.REFUSED and ended.guest_status == 2 and ended.time < 0.01
        assert why in ended.detail
