# SPDX-License-Identifier: Apache-2.0
"""GPU fabrics from configuration files: what is drawn, what is refused, and that every parameter does something."""

import copy
import json
import os
import pathlib

import command
from parameters_test import other_value

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])

# Four generators in two clusters. Buffers are small, one link is bad, so that every parameter counts.
FABRIC = {
    "packet": {},
    "device": {"serving": 4, "input": {"entries": 20}},
    "switches": [{"name": f"s{c}", "cluster": c, "input": {"entries": 40}, "output_entries": 40} for c in (0, 1)],
    "links": (
        [{"from": f"g{g}", "to": f"s{g // 2}"} for g in range(4)]
        + [{"from": "s0", "to": "s1", "lane_rate": "2 GB/s", "bit_error_rate": 0.001}]
    ),
    "generators": [
        {
            "name": f"g{g}",
            "requests": 200,
            "writes": 0.4,
            "page_tables": 0.2,
            "atomics": 0.3,
            "pattern": "hot_spot" if g == 1 else "uniform",
            "interval": "10 ns" if g == 2 else "0 ps",
        }
        for g in range(4)
    ],
}

# The same with all parts of NetCrafter, and with channels for page tables: where these parameters count.
NETCRAFTER = copy.deepcopy(FABRIC)
for s in NETCRAFTER["switches"]:
    s["stage"] = {
        "kind": "netcrafter",
        "stitching": True,
        "pooling": "plain",
        "trimming": True,
        "sequencing": "page_tables",
    }
for g in NETCRAFTER["generators"]:
    g["one_sector"] = 0.5
# Ends that fit two by two, and a cluster queue that fills.
ENDS, FULL = copy.deepcopy(NETCRAFTER), copy.deepcopy(NETCRAFTER)
for ends, full in zip(ENDS["switches"], FULL["switches"]):
    ends["stage"] |= {"sub_header": "2 B"}
    full["stage"] |= {"entries": 40}
# Lanes that turn: writes fill one direction between the switches.
REVERSIBLE = copy.deepcopy(FABRIC) | {"device": {"serving": 256, "input": {"entries": 400}}}
REVERSIBLE["links"][-1] |= {
    "bit_error_rate": 0,
    "reversible": {"policy": "milic2017", "sample_time": "500 ns", "switch_time": "100 ns", "threshold": 0.5},
}
for g, generator in enumerate(REVERSIBLE["generators"]):
    generator |= {
        "pattern": "hot_spot",
        "hot_spot": 3,
        "hot_share": 1,
        "writes": 1,
        "atomics": 0,
        "requests": 2000 if g < 2 else 20,
        "interval": "0 ps",
    }
# Traffic in bursts, and in phases.
BURSTS = copy.deepcopy(FABRIC)
for g in BURSTS["generators"]:
    g["burst"] = 10
PHASES = copy.deepcopy(FABRIC)
for g in PHASES["generators"]:
    g |= {"pattern": "alternating", "interval": "200 ns"}
# A queue for each destination, and few requests to it under way.
QUEUES = copy.deepcopy(FABRIC)
QUEUES["device"] |= {"queues_by_destination": True, "window": 4}
CHANNELS = copy.deepcopy(FABRIC) | {"packet": {"page_table_channels": True}}


def base_of(path):
    bases = {
        ".partial_candidates": ENDS,
        ".reserved": FULL,
        ".stage.": NETCRAFTER,
        "page_table_entries": CHANNELS,
        ".reversible.": REVERSIBLE,
        ".pause": BURSTS,
        ".phase": PHASES,
        "device.window": QUEUES,
    }
    return next((base for part, base in bases.items() if part in path), FABRIC)


# What a change of the stock value by a factor would not show.
VALUES = {
    "packet.crc": "4 B",
    "device.input.page_table_entries": 2,
    "switches[].input.page_table_entries": 2,
    "switches[].stage.candidates": 1,
    "switches[].stage.partial_candidates": 1,
    "switches[].stage.sub_header": "2 B",
    "switches[].stage.window": "100 cycles",
    "switches[].stage.window_from": "head",
    "switches[].stage.reserved": "packet",
    "switches[].stage.entries": 12,
    "switches[].stage.stitching": False,
    "switches[].stage.pooling": "none",
    "switches[].stage.trimming": False,
    "switches[].stage.sequencing": "none",
    "links[].reversible.policy": "none",
    "links[].reversible.threshold": 1,
    "links[].reversible.switch_time": "400 ns",
    "generators[].seed": 7,
    "device.window": 1,
    "generators[].start": "3 us",
    "generators[].interval": "70 ns",
    "generators[].hot_spot": 3,
    "links[].seed": 7,
}

WITHOUT_EFFECT = {
    "failure_time": "shows where a link or switch dies: unit.fabric_failures",
    "generators[].span": "only says which lines are asked for",
}


def fabric_leaves(schema, path=""):
    for name, entry in schema["properties"].items():
        at = f"{path}.{name}" if path else name
        if entry.get("type") == "array" and "properties" in entry["items"]:
            yield from fabric_leaves(entry["items"], f"{at}[]")
        elif "properties" in entry:
            yield from fabric_leaves(entry, at)
        else:
            yield at, entry


def changed(fabric, path, value):
    """A copy in which all items of a list have the value."""
    fabric = copy.deepcopy(fabric)
    places = [fabric]
    *groups, leaf = path.split(".")
    for group in groups:
        key = group.removesuffix("[]")
        if group.endswith("[]"):
            places = [item for place in places for item in place[key]]
        else:
            places = [place.setdefault(key, {}) for place in places]
    for place in places:
        place[leaf] = value
    return fabric


class Fabric(command.CommandTest):
    def run_fabric(self, fabric):
        """Statistics of a run, or the message where the fabric is refused."""
        self.write("guest.elf", command.elf(command.WAIT))
        config = self.write(
            "fabric.yaml", json.dumps({"node": {"images": {"firmware": "guest.elf"}, "fabric": fabric}})
        )
        done = self.run_command("run", config, "--console", "none", "--quiet", "--time", "1 ms", "--out", "out")
        if done.returncode == 2:
            return done.errors
        self.assertEqual(done.returncode, 0, done.errors)
        return {
            k: v for k, v in json.loads((self.folder / "out" / "stats.json").read_text()).items() if ".fabric." in k
        }

    def test_generators_of_a_configuration_exchange_their_packets(self):
        statistics = self.run_fabric(FABRIC)
        for g in range(4):
            self.assertEqual(statistics[f"node0.fabric.g{g}.responses"], 200)
            self.assertEqual(statistics[f"node0.fabric.g{g}.corrupt"], 0)
        self.assertGreater(statistics["node0.fabric.inter_cluster.flits"], 500)
        self.assertGreater(statistics["node0.fabric.s0.to_s1.transmitter.replays"], 50)
        self.assertEqual(statistics, self.run_fabric(FABRIC))

    def test_each_parameter_changes_something(self):
        schema = json.loads(self.succeed("schema").text)["$defs"]["node"]["properties"]["fabric"]
        baselines = [
            (base, self.run_fabric(base))
            for base in (FABRIC, NETCRAFTER, ENDS, FULL, CHANNELS, REVERSIBLE, BURSTS, PHASES, QUEUES)
        ]
        for _, result in baselines:
            self.assertIsInstance(result, dict, result)
        silent, count = [], 0
        for path, entry in fabric_leaves(schema):
            if path.endswith((".name", ".from", ".to", "stage.kind")):
                continue
            if "stage." in path and not path.startswith("switches[]"):
                continue  # the same keys: test_a_stage_stands_where_it_is_chosen
            count += 1
            baseline = next(result for base, result in baselines if base is base_of(path))
            if self.run_fabric(changed(base_of(path), path, VALUES.get(path, other_value(entry)))) == baseline:
                silent.append(path)
        self.assertEqual(silent, list(WITHOUT_EFFECT), "these parameters change nothing")
        self.assertGreater(count, 30)

    def test_a_stage_stands_where_it_is_chosen(self):
        """At switches, at the link between them, and at one direction of it."""

        def stitched(result):
            return [s for s in ("s0", "s1") if f"node0.fabric.{s}.to_s{1 - int(s[1])}_egress.wire_flits" in result]

        def at_link(key, fabric=FABRIC):
            fabric = copy.deepcopy(fabric)
            fabric["links"][4][key] = NETCRAFTER["switches"][0]["stage"]
            return self.run_fabric(fabric)

        plain, everywhere = self.run_fabric(FABRIC), at_link("stage")
        self.assertEqual(stitched(plain), [])
        self.assertEqual(stitched(everywhere), ["s0", "s1"])
        switches = copy.deepcopy(NETCRAFTER)
        for g in switches["generators"]:
            del g["one_sector"]
        self.assertEqual(everywhere, self.run_fabric(switches))
        self.assertEqual(stitched(at_link("forward_stage")), ["s0"])
        self.assertEqual(stitched(at_link("reverse_stage")), ["s1"])
        off = copy.deepcopy(FABRIC)
        off["switches"][0]["stage"] = {"kind": "none"}
        self.assertEqual(plain, self.run_fabric(off))

    def test_the_topology_has_stock_fabrics(self):
        for name, slow in (
            ("netcrafter_quad", 16e9),
            ("netcrafter_quad_ideal", 128e9),
            ("netcrafter_quad_on", 16e9),
            ("numa_quad", 64e9),
        ):
            with self.subTest(name):
                self.assertIn("interconnect", self.succeed("describe", CONFIGS / f"{name}.yaml").text)
                node = json.loads(self.succeed("describe", CONFIGS / f"{name}.yaml", "--topology").text)["nodes"][0]
                for graph in ("pcie", "fabric"):
                    names = {block["name"] for block in node[graph]["blocks"] if block["kind"] == "device"}
                    self.assertEqual(names, {f"gpu{n}" for n in range(4)})
                rates = [[d["bytes_per_second"] for d in link["directions"]] for link in node["fabric"]["links"]]
                self.assertEqual(min(map(min, rates)), slow)

    def test_invalid_parameters_are_rejected(self):
        def assert_rejected(words, change):
            fabric = copy.deepcopy(FABRIC)
            change(fabric)
            message = self.run_fabric(fabric)
            self.assertIsInstance(message, str, words)
            self.assertIn(words, message)
            self.assertEqual(message.count("\n"), 1)

        assert_rejected(
            "a link goes to 'gpu9', which is neither a switch nor a device", lambda f: f["links"][4].update(to="gpu9")
        )
        assert_rejected("'g0' has more than one link", lambda f: f["links"].append({"from": "g0", "to": "s1"}))
        assert_rejected(
            "device.input.entries of 4 flits leaves 2 for requests: the longest packet has 5",
            lambda f: f["device"]["input"].update(entries=4),
        )
        assert_rejected(
            "s0.stage.pooling waits for packets to stitch",
            lambda f: f["switches"][0].update(stage={"kind": "netcrafter", "pooling": "plain"}),
        )
        assert_rejected(
            "s0.stage of kind netcrafter needs a link to another cluster",
            lambda f: [s.update(cluster=0, stage={"kind": "netcrafter", "trimming": True}) for s in f["switches"]],
        )
        for key, value, words in (
            ("window_from", "tail", "'tail' is not one of head, arrival"),
            ("reserved", "all", "'all' is not one of half, packet"),
            ("sequencing", "loads", "'loads' is not one of none, page_tables, read_critical, data"),
            ("candidates", 17, "17 is out of range: give 1 … 16"),
            ("partial_candidates", 0, "0 is out of range: give 1 … 16"),
            ("sub_header", "5 B", "5 B is out of range: give 2 B … 4 B"),
        ):
            assert_rejected(
                f"switches.0.stage.{key}: {words}",
                lambda f, key=key, value=value: f["switches"][0].update(stage={"kind": "netcrafter", key: value}),
            )
        long_window = {"kind": "netcrafter", "stitching": True, "pooling": "plain", "window": "1000000 cycles"}
        assert_rejected(
            "s0.stage.window of 1000000 cycles is not shorter than simulation.watchdog",
            lambda f: f["switches"][0].update(stage=long_window, clock="1 MHz"),
        )
        assert_rejected(
            "links.0.stage of kind netcrafter needs a link to another cluster",
            lambda f: f["links"][0].update(stage={"kind": "netcrafter", "trimming": True}),
        )
        assert_rejected(
            "device.stage of kind netcrafter needs a link to another cluster",
            lambda f: f["device"].update(stage={"kind": "netcrafter", "trimming": True}),
        )
        assert_rejected(
            "node.fabric.switches.0.netcrafter is now called node.fabric.switches.0.stage: {kind: netcrafter, …}",
            lambda f: f["switches"][0].update(netcrafter={"trimming": True}),
        )
        assert_rejected(
            "node.fabric.switches.0.stage.kind: 'netcraft' is not one of none, netcrafter",
            lambda f: f["switches"][0].update(stage={"kind": "netcraft"}),
        )
        assert_rejected(
            "fabric: forward_lanes of 16 from 's0' to 's1': the link has 16 lanes, and one at least must lead back",
            lambda f: f["links"][4].update(forward_lanes=16),
        )
        assert_rejected(
            "forward_lanes: 128 is out of range: give 0 … 127", lambda f: f["links"][4].update(forward_lanes=128)
        )
        assert_rejected("lanes: 65 is out of range: give 1 … 64", lambda f: f["links"][4].update(lanes=65))
        assert_rejected("lane_rate", lambda f: f["links"][4].update(lane_rate=16))
        assert_rejected("lanez", lambda f: f["links"][4].update(lanez=16))


if __name__ == "__main__":
    command.main()
