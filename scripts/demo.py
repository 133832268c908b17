# SPDX-License-Identifier: Apache-2.0
"""`make demo`: Debian's OpenSBI and U-Boot boot to the prompt and answer commands, then our own firmware does its turn:
on a bare host, on a PCIe tree with eight copy engines, and, started by U-Boot, on two nodes of four GPUs each with
everything at work. Ends with a table of what ran; exit status 0 only if all of it was right."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import cluster_demo
import fabricvp
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
    for path, text in [
        ("stats.json", "statistics"),
        ("config.resolved.yaml", "every parameter of the machine"),
        ("console.node0.log", "what the guest printed"),
        ("console.node0.input", "what was typed, and when"),
        ("trace.json", "trace of its first 50 ms, for a Perfetto viewer"),
    ]:
        file = folder / path
        if file.exists():
            table.add_row(text, f"{relative(file)} ({file.stat().st_size:,} bytes)")
    screen.print(table)


def some_statistics(statistics, max_count=12):
    """The largest counters of the machine itself."""
    chosen = sorted(
        ((value, path) for path, value in statistics.items() if value and not path.startswith("sim.")), reverse=True
    )
    table = Table(title=f"The largest of {len(statistics)} statistics", title_justify="left")
    table.add_column("statistic")
    table.add_column("value", justify="right")
    for value, path in chosen[:max_count]:
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
        screen.print(
            f"\n[bold]{result.outcome}[/bold] after {result.time * 1e3:.1f} ms of simulated time; "
            f'"Hit any key" came after {to_banner:.2f} s of wall time'
        )
        machine.write_results(folder)
        statistics = machine.statistics.snapshot()
    summary(folder, statistics)
    some_statistics(statistics)
    return result.outcome == "power_off"


def from_command_line(machine, folder, *options):
    command = [
        pathlib.Path(sys.prefix) / "bin" / "fabricvp",
        "run",
        TREE / "configs" / machine,
        *options,
        "--out",
        folder,
    ]
    screen.print("$ " + " ".join(relative(part) if isinstance(part, pathlib.Path) else part for part in command))
    return subprocess.run(command, stdin=subprocess.DEVNULL, timeout=600).returncode == 0


def hello(folder):
    title("Our own firmware (firmware/programs/hello), on configs/hello.yaml, from the command line")
    return from_command_line("hello.yaml", folder)


def pcie(folder):
    title(
        "A PCIe tree found, configured and used by our own firmware: configs/cs_storm.yaml with interrupts by MSI-X\n"
        "(the warnings belong to its tests of errors)"
    )
    return from_command_line(
        "cs_storm.yaml",
        folder,
        "--firmware",
        "firmware:pcie_demo.elf",
        "--set",
        "node.images.kernel=",
        "--set",
        "node.host.interrupts=aplic_imsic",
    )


def cluster(folder):
    title(
        "Two nodes, each with four GPUs in two clusters and an RDMA adapter, started by U-Boot:"
        " configs/cluster.yaml\nRandom updates and SpMV over four GPUs with NetCrafter and reversible lanes off and on;"
        " messages over PCIe\nin the order that the congestion model finds best; messages that kernels post (GPUrdma);"
        " Jacobi's method with halos from GPU to GPU (ComP-Net)"
    )
    with screen.status("two nodes boot and work …"):
        report = cluster_demo.run(folder, show)
    table = Table(title="What was measured", title_justify="left")
    for column in ("figure", "measured", "unit"):
        table.add_column(column, justify="right" if column == "measured" else "left")
    for row in report.rows:
        table.add_row(row.figure, f"{row.measured:,.1f}", row.unit)
    screen.print(table)
    for sentence in report.verdict:
        screen.print(sentence)
    for check in report.checks:
        if not check.ok:
            screen.print(f"[bold red]FAILED[/bold red] {check.name}: {check.detail}")
    return report.ok


def outcome(ran):
    """What ran, whether it was right, and where its outputs lie."""
    table = Table(title="What ran", title_justify="left")
    for column in ("part", "result", "seconds", "outputs"):
        table.add_column(column, justify="right" if column == "seconds" else "left")
    for name, ok, seconds, folder in ran:
        files = (
            ", ".join(
                sorted(
                    f.name for f in folder.iterdir() if f.suffix in (".html", ".svg", ".json", ".pcap", ".yaml", ".log")
                )
            )
            if folder.exists()
            else ""
        )
        table.add_row(
            name, "ok" if ok else "[bold red]FAILED[/bold red]", f"{seconds:.1f}", f"{relative(folder)}/: {files}"
        )
    screen.print(table)


def main():
    shutil.rmtree(RUNS, ignore_errors=True)
    RUNS.mkdir(parents=True)
    ran = []
    for part in (u_boot, hello, pcie, cluster):
        started, name = time.monotonic(), part.__name__.replace("_", "")
        folder = RUNS / name
        try:
            ok = part(folder)
        except (ValueError, RuntimeError, OSError, subprocess.SubprocessError) as error:
            screen.print(f"[bold red]{error}[/bold red]")
            ok = False
        ran.append((name, ok, time.monotonic() - started, folder))
    title("Now by hand")
    screen.print(
        "The run folders are in build/demo; build/demo/cluster/index.html is the page. Try:\n  .venv/bin/fabricvp run"
        " configs/uboot.yaml            a console to type into\n  .venv/bin/fabricvp run configs/cluster.yaml         "
        " the same before two nodes of four GPUs; the file says what to type\n  .venv/bin/fabricvp describe"
        " configs/uboot.yaml       the machine as a tree\n  .venv/bin/fabricvp --help"
    )
    outcome(ran)
    return 0 if all(ok for _, ok, _, _ in ran) else 1


if __name__ == "__main__":
    sys.exit(main())
