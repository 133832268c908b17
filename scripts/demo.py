# SPDX-License-Identifier: Apache-2.0
"""`make demo`: Debian's OpenSBI and U-Boot boot to the prompt and answer commands, then our own firmware does its turn: on a
bare host, on a PCIe tree with eight copy engines, and, started by U-Boot, on a host with four GPUs that multiply a sparse
matrix and rank pages together."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

import fabricvp
import pandas
from fabricvp.experiments import Experiment, Report, machines
from fabricvp.experiments.gpu_workloads import pictures
from fabricvp.experiments.gpu_workloads.measure import Point, as_record, for_table, observe_all
from fabricvp.experiments.writing import write
from rich.console import Console
from rich.panel import Panel
from rich.table import Table

TREE = pathlib.Path(__file__).resolve().parents[1]
RUNS = TREE / "build" / "demo"
COMMANDS = ["version", "bdinfo", "pci", "md 0x80200000 4"]
PROMPT = "=> "

screen = Console(highlight=False, width=max(100, Console().width))


def title(text):
    screen.print(Panel.fit(text, style="bold"))


def show(text):
    """Console output of the guest, as it is."""
    sys.stdout.write(text.replace("\r", ""))
    sys.stdout.flush()


def relative(path):
    return os.path.relpath(path, pathlib.Path.cwd())


def summary(folder, statistics):
    instructions, wall = statistics["sim.instructions"], statistics["sim.wall_s"]
    table = Table(title="What the run left", title_justify="left", show_header=False)
    table.add_row("simulated time", f"{statistics['sim.time_s'] * 1e3:,.1f} ms")
    table.add_row("wall time", f"{wall:.2f} s")
    table.add_row("instructions", f"{instructions:,.0f}")
    table.add_row("speed", f"{instructions / wall / 1e6:,.0f} million instructions a second")
    table.add_row("calendar events", f"{statistics['sim.events']:,.0f}")
    for path, text in [("stats.json", "statistics"), ("config.resolved.yaml", "every parameter of the machine"),
                       ("console.node0.log", "what the guest printed"), ("console.node0.input", "what was typed, and when"),
                       ("trace.json", "trace of its first 50 ms, for a Perfetto viewer")]:
        file = folder / path
        if file.exists():
            table.add_row(text, f"{relative(file)} ({file.stat().st_size:,} bytes)")
    screen.print(table)


def some_statistics(statistics, most=12):
    """The largest counters of the machine itself."""
    chosen = sorted(((value, path) for path, value in statistics.items() if value and not path.startswith("sim.")), reverse=True)
    table = Table(title=f"The largest of {len(statistics)} statistics", title_justify="left")
    table.add_column("statistic")
    table.add_column("value", justify="right")
    for value, path in chosen[:most]:
        table.add_row(path, f"{value:,.0f}")
    screen.print(table)


def u_boot(folder):
    title("Debian's OpenSBI and U-Boot, unmodified, on configs/uboot.yaml")
    started = time.monotonic()
    with fabricvp.Platform.from_config(TREE / "configs" / "uboot.yaml") as machine:
        machine.start_trace("0 s", "50 ms")
        console = machine.nodes[0].console
        match = console.expect("Hit any key to stop autoboot")
        show(match.before + match.text)
        to_banner = time.monotonic() - started
        console.type("\n")
        match = console.expect(PROMPT)
        show(match.before + match.text)
        for line in COMMANDS:
            console.type(line + "\n")
            match = console.expect(PROMPT)
            show(match.before + match.text)
        console.type("poweroff\n")
        result = machine.run("5 s")
        show(console.unread)
        screen.print(f"\n[bold]{result.outcome}[/bold] after {result.time * 1e3:.1f} ms of simulated time; "
                     f"\"Hit any key\" came after {to_banner:.2f} s of wall time")
        if result.outcome != "power_off":
            raise SystemExit(f"the machine was to power off: {result}")
        machine.write_results(folder)
        statistics = machine.statistics.snapshot()
    summary(folder, statistics)
    some_statistics(statistics)


def from_command_line(machine, folder, *options):
    command = [pathlib.Path(sys.prefix) / "bin" / "fabricvp", "run", TREE / "configs" / machine, *options, "--out", folder]
    screen.print("$ " + " ".join(relative(part) if isinstance(part, pathlib.Path) else part for part in command))
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=120)


def hello(folder):
    title("Our own firmware (firmware/host), on configs/hello.yaml, from the command line")
    from_command_line("hello.yaml", folder)


def pcie(folder):
    title("A PCIe tree found, configured and used by our own firmware: configs/cs_storm.yaml with interrupts by MSI-X\n"
          "(the warnings belong to its tests of errors)")
    from_command_line("cs_storm.yaml", folder, "--firmware", "firmware:pcie_demo.elf", "--set", "node.images.kernel=",
                      "--set", "node.host.interrupts=aplic_imsic")


APPS = {"spmv": 4096, "pagerank": 16384}


def boot_quad(machine):
    """U-Boot to its prompt, then our program from the disk, in place of a kernel."""
    console = machine.nodes[0].console
    match = console.expect("Hit any key to stop autoboot")
    show(match.before + match.text)
    console.type("\n")
    match = console.expect(PROMPT)
    show(match.before + match.text)
    arguments = " ".join(f"app={name} size={size}" for name, size in APPS.items())
    for line in ["pci", "virtio scan", "virtio read ${kernel_addr_r} 0 800", f"setenv bootargs {arguments}"]:
        console.type(line + "\n")
        match = console.expect(PROMPT)
        show(match.before + match.text)
    console.type("booti ${kernel_addr_r} - ${fdtcontroladdr}\n")


def quad(folder):
    title("Four GPUs behind a PCIe tree, with a fabric of two clusters between them: configs/netcrafter_quad_uboot.yaml\n"
          "U-Boot starts the host and loads our program, whose driver brings up the GPUs; a sparse matrix times a vector and page\n"
          "ranks of a graph run over all four, and results are checked")
    report, started = Report(), time.monotonic()
    points = [Point(name, "netcrafter_quad_uboot", size, spans=True) for name, size in APPS.items()]
    with fabricvp.spawn("netcrafter_quad_uboot") as machine:
        boot_quad(machine)
        with screen.status(" and ".join(f"{p.workload} with size {p.size}" for p in points) + " run …"):
            # Wavefronts, dispatchers and command processors: with the memory system a trace would grow too large here.
            def begun():
                machine.start_trace(machine.now, machine.now + 500e-6, filter="node0.gpu?.[cdp][iro]*")

            found = {m.point.workload: m for m in observe_all(machine, points, begun)}
        show(machine.nodes[0].console.unread)
        machine.write_results(folder)
    for name, m in found.items():
        report.check(f"{name} is right", m.right, "compared with the host's own result")
    report.used(machines.used())
    report.table("workloads", pandas.DataFrame([for_table(as_record(m)) for m in found.values()]).round(3), "What the measured kernels did")
    for name, m in found.items():
        report.picture(f"fabric_{name}", m.picture, f"What the fabric carried while the kernels of {name} ran")
    for name, picture, caption in pictures.draw(found, found, {}):
        if name != "slowdown":
            report.plot(name, picture, caption)
    write(folder, Experiment("quad", "Four GPUs in two clusters", "Sparse matrix times vector, and page ranks.", None), report, "make demo",
          time.monotonic() - started)
    table = Table(title="What the run left", title_justify="left", show_header=False)
    for text, name in [("page of plots", "index.html"), ("what the fabric carried", "fabric.svg"), ("statistics", "stats.json"), ("regions", "regions.json"),
                       ("console", "console.node0.log"), ("trace of 0.5 ms of wavefronts, for ui.perfetto.dev", "trace.json")]:
        table.add_row(text, f"{relative(folder / name)} ({(folder / name).stat().st_size:,} bytes)")
    screen.print(table)
    if not report.ok:
        raise SystemExit("a result is wrong")


def main():
    shutil.rmtree(RUNS, ignore_errors=True)
    RUNS.mkdir(parents=True)
    u_boot(RUNS / "uboot")
    hello(RUNS / "hello")
    pcie(RUNS / "pcie")
    quad(RUNS / "quad")
    title("Now by hand")
    screen.print("The run folders are in build/demo. Try:\n"
                 "  .venv/bin/fabricvp run configs/uboot.yaml            a console to type into\n"
                 "  .venv/bin/fabricvp run configs/netcrafter_quad_uboot.yaml    the same before four GPUs; the file says what to type\n"
                 "  .venv/bin/fabricvp describe configs/uboot.yaml       the machine as a tree\n"
                 "  .venv/bin/fabricvp --help")


if __name__ == "__main__":
    main()
