# SPDX-License-Identifier: Apache-2.0
"""Traces as Perfetto's messages have what traces in JSON have. Perfetto's own definitions read them."""

import collections
import json
import subprocess
import sys
import zlib
from fractions import Fraction

import fabricvp
import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def packets(data):
    """All packets in their order, those that are compressed among them."""
    trace = Trace()
    trace.ParseFromString(data)
    for packet in trace.packet:
        if packet.HasField("compressed_packets"):
            yield from packets(zlib.decompress(packet.compressed_packets))
        else:
            yield packet


def events_of(file):
    """What a trace shows: slices, instants, counters and ends of arrows, each as tuples that can be compared."""
    shown = collections.defaultdict(list)
    names, annotations, tracks, processes, open_slices = {}, {}, {}, {}, {}
    for packet in packets(file.read_bytes()):
        sequence = packet.trusted_packet_sequence_id
        for one in packet.interned_data.event_names:
            assert (sequence, one.iid) not in names
            names[sequence, one.iid] = one.name
        for one in packet.interned_data.debug_annotation_names:
            annotations[sequence, one.iid] = one.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in tracks
            if track.HasField("process"):
                processes[track.uuid] = track.process.process_name
            tracks[track.uuid] = (processes[track.parent_uuid or track.uuid], track.name, track.HasField("counter"))
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        process, track, counts = tracks[event.track_uuid]
        name = names[sequence, event.name_iid] if event.name_iid else ""
        if event.type == TrackEvent.TYPE_COUNTER:
            assert counts
            shown["C"].append((process, track, packet.timestamp, event.double_counter_value))
        elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
            values = {
                annotations[sequence, a.name_iid]: a.uint_value or a.pointer_value for a in event.debug_annotations
            }
            assert event.track_uuid not in open_slices
            open_slices[event.track_uuid] = (process, track, name, packet.timestamp, values)
        elif event.type == TrackEvent.TYPE_SLICE_END:
            *begin, values = open_slices.pop(event.track_uuid)
            shown["X"].append((*begin, packet.timestamp, *sorted(values.items())))
        elif event.flow_ids or event.terminating_flow_ids:
            kind = "f" if event.terminating_flow_ids else "st"
            number = [*event.flow_ids, *event.terminating_flow_ids]
            shown["arrows"].append((process, track, name, packet.timestamp, kind, *number))
        else:
            shown["i"].append((process, track, name, packet.timestamp))
    assert not open_slices
    return {kind: sorted(events) for kind, events in shown.items()}


def nanoseconds(event, length=0):
    """Whole ones of a time of an event in JSON, with a duration behind it if asked for."""
    return int((Fraction(str(event["ts"])) + Fraction(str(length))) * 1000)


def events_of_json(file):
    """The same of a trace in JSON."""
    events = json.loads(file.read_text(), parse_float=str)["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    shown = collections.defaultdict(list)
    for e in events:
        process, track = processes.get(e["pid"]), tracks.get((e["pid"], e.get("tid")), "")
        if e["ph"] == "X":
            values = {"access": e["args"]["access"], "address": int(e["args"]["address"], 16)} if "args" in e else {}
            end = nanoseconds(e, e["dur"])
            shown["X"].append((process, track, e["name"], nanoseconds(e), end, *sorted(values.items())))
        elif e["ph"] == "C":
            shown["C"].append((process, e["name"], nanoseconds(e), float(e["args"]["value"])))
        elif e["ph"] in "stf":
            kind = "f" if e["ph"] == "f" else "st"
            shown["arrows"].append((process, track, e["name"], nanoseconds(e), kind, int(e["id"])))
        elif e["ph"] == "i":
            shown["i"].append((process, track, e["name"], nanoseconds(e)))
    return {kind: sorted(events) for kind, events in shown.items()}


def run(folder, *options):
    """Runs a machine with a trace in each format. Gives both files."""
    for form in ("json", "protobuf"):
        subprocess.run(
            [sys.executable, "-m", "fabricvp", "run", *options, "--quiet", "--console", "none", "--out", folder / form]
            + ["--trace", "--trace-format", form],
            check=True,
        )
        assert len([*(folder / form).glob("trace.*")]) == 1
    return folder / "json" / "trace.json", folder / "protobuf" / "trace.pftrace"


MESSAGES = ["--append", "exchange=0 latency=2 max=512 bandwidth=0 rate=0", "--time", "3ms"]


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        (["gpu", "--app", "reduction", "--size", "4096"], {"X", "C"}),
        (["gpurdma_pair", "--append", "messages=4 runs=1 size=64", "--spans"], {"X", "C", "arrows"}),
    ],
)
def test_both_formats_show_the_same(tmp_path, options, kinds):
    text, binary = run(tmp_path, *options)
    expected = events_of_json(text)
    assert kinds <= set(expected)
    assert events_of(binary) == expected
    assert binary.stat().st_size < text.stat().st_size / 4


def test_ranks_are_processes_of_one_trace(tmp_path):
    text, binary = run(tmp_path, "rdma_pair", *MESSAGES, "--ranks", "2")
    expected = events_of_json(text)
    assert {process for process, *_ in expected["C"]} == {"rank 0", "rank 1"}
    assert events_of(binary) == expected


def test_a_size_limit_ends_it_with_a_mark(tmp_path):
    options = ["gpu", "--app", "reduction", "--size", "4096", "--trace-size", "64KiB"]
    text, binary = run(tmp_path, *options)
    assert 32 << 10 < binary.stat().st_size <= 64 << 10
    found, few = events_of(binary), events_of_json(text)
    assert len(found["X"]) > 2 * len(few["X"])
    marks = [name for _, _, name, _ in found["i"] if name.startswith("trace ends here")]
    assert marks == ["trace ends here: size limit of 65536 bytes"]


def test_ranks_share_the_size_limit(tmp_path):
    run_options = ["compnet_pair", "--app", "allreduce", "--size", "4096", "--trace-size", "64KiB", "--ranks", "2"]
    text, _ = run(tmp_path, *run_options)
    assert 32 << 10 < text.stat().st_size <= 64 << 10


def test_from_python(tmp_path):
    with fabricvp.spawn("gpu", app="vectoradd", size=1024) as platform:
        with pytest.raises(fabricvp.InputError, match="'binary' is not known; there are json and protobuf"):
            platform.start_trace(format="binary")
        platform.start_trace(format="protobuf", filter="*.compute_unit0*")
        platform.run()
        platform.write_results(tmp_path / "out")
    found = events_of(tmp_path / "out" / "trace.pftrace")
    assert found["X"] and all("compute_unit0" in track for _, track, *_ in found["X"])


def test_a_region_is_traced_alone(tmp_path):
    options = ["gpu", "--app", "vectoradd", "--size", "256", "--trace", "--trace-region", "kernels"]
    command = [sys.executable, "-m", "fabricvp", "run", *options, "--quiet", "--console", "none", "--out", tmp_path]
    subprocess.run(command, check=True)
    times = [e["ts"] for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if e["ph"] == "X"]
    (region,) = json.loads((tmp_path / "regions.json").read_text())
    begin, end = (1e6 * region[name] for name in ("from_s", "to_s"))
    assert len(times) > 50 and begin <= min(times) and max(times) < end

    with fabricvp.spawn("gpu", app="vectoradd", size=256) as machine:
        machine.start_trace(region="kernel")
        machine.run()
        machine.write_results(tmp_path / "none")
    assert not [e for e in json.loads((tmp_path / "none/trace.json").read_text())["traceEvents"] if e["ph"] in "XC"]
    with (
        fabricvp.spawn("gpu", app="vectoradd", size=256) as machine,
        pytest.raises(fabricvp.InputError, match="region"),
    ):
        machine.start_trace(1e-3, region="kernels")
