# SPDX-License-Identifier: Apache-2.0
"""GPUs on the host's bus: applications, networking, and what such a machine refuses; tests/firmware/gpu has the
driver's own programs."""

import concurrent.futures
import json
import os
import pathlib
import re

import command
from command import CommandTest
from fabricvp.guest_results import result_lines

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
SIZES = {
    "vectoradd": 8192,
    "fir": 8192,
    "transpose": 128,
    "stencil": 64,
    "spmv": 1024,
    "reduction": 8192,
    "histogram": 8192,
    "mm": 48,
    "gups": 8192,
    "bitonicsort": 8192,
    "locks": 128,
    "lenet": 2,
}
NODE = "node:\n  host: {memory_timing: caches}\n  gpus:\n    - below: host\n"


class Apu(CommandTest):
    def statistics(self, folder):
        return json.loads((self.folder / folder / "stats.json").read_text())

    def run_app(self, name, *more, config="apu", out=None):
        out = out or name
        return (
            self.run_command(
                "run", CONFIGS / f"{config}.yaml", "--app", name, "--size", SIZES[name], "--out", out, *more
            ),
            out,
        )

    def test_applications(self):
        """Results are right, and what the kernels work on is memory of the host: nothing comes over PCIe, pages of its
        own are tables."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = {name: pool.submit(self.run_app, name) for name in SIZES}
        for name, run in runs.items():
            with self.subTest(app=name):
                result, out = run.result()
                self.assertEqual(result.returncode, 0, result.text + result.errors)
                self.assertRegex(result.text, rf"(?m)^{name} +ok\r?$")
                values = self.statistics(out)
                self.assertGreater(values["node0.gpu0.coherent.reads"], 0)
                self.assertGreater(values["node0.gpu0.coherent.writes"], 0)
                self.assertGreater(values["node0.gpu0.memory.l2.bank0.hits"], 0)
                self.assertEqual([path for path in values if re.match(r"node0\.(pcie\.|gpu0\.(link|dma)\.)", path)], [])
                self.assertEqual(values["node0.energy.pcie"], 0)
                self.assertGreater(values["node0.energy.host_memory"], 0)
        twice, _ = self.run_app("fir", out="again")
        self.assertEqual(twice.returncode, 0)
        self.assert_same_statistics("fir", "again")

    def test_messages_by_every_backend(self):
        """Kernels of APUs put messages into each other's memory, by each backend; every byte is checked."""
        time = {}
        for name in "compnet", "ghn", "gpu_native", "gds":
            result = self.run_command(
                "run", CONFIGS / "compnet_apu_pair.yaml", "--append", f"scheme={name} rounds=4 max=4096", "--out", name
            )
            self.assertEqual(result.returncode, 0, result.text)
            for n in 0, 1:
                text = (self.folder / name / f"console.node{n}.log").read_text()
                self.assertEqual(
                    [line for line in text.splitlines() if not line.startswith("# ")][1:],
                    ["echo       ok", "all ok, powering off"],
                )
                self.assertEqual(self.statistics(name)[f"node{n}.hca0.retries"], 0)
                self.assertEqual(self.statistics(name)[f"node{n}.hca0.bad_doorbells"], 0)
            lines = result_lines((self.folder / name / "console.node0.log").read_text(), "echo")
            self.assertEqual({line["backend"] for line in lines}, {name})
            time[name] = {line["bytes"]: line["time_ps"] for line in lines}[64]
        far = self.run_command(
            "run", CONFIGS / "compnet_pair.yaml", "--append", "scheme=ghn rounds=4 min=64 max=64", "--out", "far"
        )
        # Requests need not cross the I/O bus.
        self.assertLess(time["ghn"], result_lines(far.text, "echo")[0]["time_ps"])
        bus = self.run_command(
            "run",
            CONFIGS / "compnet_apu_bus_pair.yaml",
            "--append",
            "scheme=ghn rounds=4 min=64 max=64",
            "--out",
            "bus",
        )
        # Nor need what the adapter fetches and writes.
        self.assertIn("all ok, powering off", bus.text)
        self.assertLess(result_lines(bus.text, "echo")[0]["time_ps"], time["ghn"])

    def test_work_by_every_backend(self):
        for options in (
            "work=jacobi rows=48 columns=64 groups=6 iterations=7",
            "work=reduce bytes=40000 groups=3 rounds=2 cores=3",
        ):
            for backend in "compnet", "ghn", "gpu_native", "hdn":
                result = self.run_command(
                    "run", CONFIGS / "compnet_apu_pair.yaml", "--append", f"scheme={backend} {options}", "--out", "out"
                )
                self.assertEqual(result.returncode, 0, result.text)
                self.assertIn("all ok, powering off", result.text)

    def test_the_same_computers(self):
        """What differs between the machines of ComP-Net is where the GPU is attached, and the memory that follows from
        it."""

        def lines(config, nodes):
            result = self.run_command("run", CONFIGS / f"{config}.yaml", "--time", "1us", "--out", config)
            self.assertEqual(result.returncode, 0, result.text)
            path, items, flat = (
                [],
                {},
                {},
            )  # path: (indentation, key) of what is open; items: how many a list has so far
            for line in (self.folder / config / "config.resolved.yaml").read_text().splitlines():
                match = re.match(r"( *)(- )?(\w+):(?: (.*))?$", line)
                if not match:
                    continue
                depth = len(match[1])
                path = [p for p in path if p[0] < depth]
                if match[2]:
                    where = ".".join(key for _, key in path)
                    items[where] = items.get(where, -1) + 1
                    path.append((depth, str(items[where])))
                    depth += 2
                path.append((depth, match[3]))
                flat[".".join(key for _, key in path)] = match[4]
            return flat

        for nodes in "pair", "4", "8", "16":
            here, there = lines(f"compnet_{nodes}", nodes), lines(f"compnet_apu_{nodes}", nodes)
            different = {key for key in here.keys() | there.keys() if here.get(key) != there.get(key)}
            self.assertTrue(any(key.endswith("gpus.0.below") for key in different), different)
            allowed = (
                r"nodes\.\d+\.(host\.memory|gpus\.0\.(below|link|link\..*|dma|dma\..*|read_latency"
                r"|resizable_from|completion_boundary|ready_after_reset"
                r"|coherent|coherent\..*|system|system\..*|memory\.capacity|memory\.hbm\..*)"
                r"|energy\.gpu_memory_pj_per_bit)"
            )
            self.assertEqual({key for key in different if not re.fullmatch(allowed, key)}, set())
        here, there = lines("compnet_apu_pair", "pair"), lines("compnet_apu_bus_pair", "pair")
        different = {key for key in here.keys() | there.keys() if here.get(key) != there.get(key)}
        self.assertIn("nodes.0.hcas.0.below", different)
        allowed = r"nodes\.\d+\.(hcas\.0\.(below|link\..*)|pcie\..*)"
        self.assertEqual({key for key in different if not re.fullmatch(allowed, key)}, set())

    def test_configurations_an_apu_rejects(self):
        for text, words in (
            (
                NODE + "      link: {width: 8}\n",
                r"m\.yaml:5: unknown key 'link' in node\.gpus\.0 \(allowed: name, below, clock, .*coherent, system\)",
            ),
            (
                NODE + "      resizable_from: 1 MiB\n",
                r"m\.yaml:5: unknown key 'resizable_from' in node\.gpus\.0 \(allowed: ",
            ),
            (NODE + "      bar: 0\n", r"m\.yaml:5: unknown key 'bar' in node\.gpus\.0 \(allowed: "),
            (NODE + "      slot: 1\n", r"m\.yaml:5: unknown key 'slot' in node\.gpus\.0 \(allowed: "),
            (NODE + "  pcie: {gpu0: {below: root}}\n", r"m\.yaml:5: unknown key 'gpu0' in node\.pcie \(allowed: "),
            (
                "node:\n  gpus:\n    - below: host\n",
                r"m\.yaml:3: gpu0: an APU \(below: host\) .* host\.memory_timing: caches",
            ),
            (
                "node:\n  gpus:\n    - coherent: {latency: 1 ns}\n",
                r"m\.yaml:3: unknown key 'coherent' in node\.gpus\.0 \(allowed: .*link",
            ),
            (NODE + "  pcie:\n    switches:\n      - name: host\n", r"m\.yaml:7: the name 'host' is taken"),
            (NODE + "      coherent: {latency: -1 ns}\n", r"m\.yaml:5: node\.gpus\.0\.coherent\.latency: "),
        ):
            (self.folder / "m.yaml").write_text(text)
            for verb in ("check", "m.yaml"), ("run", "m.yaml", "--time", "1us", "--out", "refused"):
                result = self.run_command(*verb)
                self.assertEqual(result.returncode, 2, text)
                self.assertRegex(result.errors, rf"^fabricvp: {words}.*\n$")
            self.assertFalse((self.folder / "refused").exists())

    def test_firmware_that_crashes_while_it_serves(self):
        """The host finds a record, and nothing hangs."""
        result = self.run_command(
            "run",
            CONFIGS / "compnet_apu_pair.yaml",
            "--append",
            "scheme=compnet crash=1 groups=4 rounds=100 min=64 max=64",
            "--out",
            "out",
        )
        self.assertEqual(result.returncode, 1, result.text)
        self.assertRegex(
            (self.folder / "out" / "console.node0.log").read_text(),
            r"gpu0 fault: firmware trap, cause 2 on hart 0, pc 0x\w+ \(network_service_poll\+0x\w+\)",
        )


if __name__ == "__main__":
    command.main()
