# SPDX-License-Identifier: Apache-2.0
"""FabricVP: a SystemC/TLM-2.0 virtual platform of multi-GPU servers and clusters.

    import fabricvp

    platform = fabricvp.Platform.from_config("uboot", node__host__harts=4)
    console = platform.nodes[0].console
    console.expect("Hit any key", timeout="2 s")    # of simulated time
    console.type(" ")
    console.expect("=> ")
    print(console.command("version", prompt="=> "))
    print(platform.statistics.to_pandas("node0.host.hart0"))

SystemC elaborates once a process, so a process has one `Platform`. `spawn()` runs further ones in child processes, and
`Platform.fork()` branches a warm machine.
"""

from __future__ import annotations

__version__ = "0.3.0"

# What needs numpy, pandas or matplotlib imports them where it is called, and the names below are imported when they are
# asked for: the command `fabricvp run` starts without any of them.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .compiler.values import local
    from .conditions import Breakpoint, ConsoleText, Marker, Watchpoint
    from .data import config_path, configs, firmware_path, firmwares
    from .device_arrays import DeviceArray
    from .errors import AddressError, ExpectTimeout, GuestStopped, InputError, KernelFault, RemoteError
    from .faults import FaultArgument, FaultKind
    from .gpu import App, Gpu, Wavefront, apps
    from .guest_results import ResultLine, result_lines
    from .launch import Launch, Locality, PendingLaunch
    from .linux_machine import Linux, LinuxResult, boot_linux, linux
    from .pcie_declarations import Bar
    from .pcie_devices import DmaRead, PcieDevice
    from .platform import Platform
    from .program import Program
    from .progress import show_progress
    from .ranked_run import RankedRun, run_ranks
    from .remote import RemotePlatform
    from .results import Match, NodeOutcome, NodeState, Outcome, RunResult, read_results
    from .spawning import spawn
    from .streams import Stream
    from .sweeps import sweep
    from .units import seconds, to_picoseconds

_NAMES = {
    "conditions": ("Breakpoint", "ConsoleText", "Marker", "Watchpoint"),
    "data": ("config_path", "configs", "firmware_path", "firmwares"),
    "device_arrays": ("DeviceArray",),
    "errors": ("AddressError", "ExpectTimeout", "GuestStopped", "InputError", "KernelFault", "RemoteError"),
    "faults": ("FaultArgument", "FaultKind"),
    "gpu": ("App", "Gpu", "Wavefront", "apps"),
    "linux_machine": ("Linux", "LinuxResult", "boot_linux", "linux"),
    "launch": ("Launch", "Locality", "PendingLaunch"),
    "pcie_declarations": ("Bar",),
    "pcie_devices": ("DmaRead", "PcieDevice"),
    "compiler.values": ("local",),
    "platform": ("Platform",),
    "program": ("Program",),
    "progress": ("show_progress",),
    "ranked_run": ("RankedRun", "run_ranks"),
    "remote": ("RemotePlatform",),
    "guest_results": ("ResultLine", "result_lines"),
    "results": ("Match", "NodeOutcome", "NodeState", "Outcome", "RunResult", "read_results"),
    "spawning": ("spawn",),
    "streams": ("Stream",),
    "sweeps": ("sweep",),
    "units": ("seconds", "to_picoseconds"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> object:
    import importlib

    if name == "_fabricvp" or name in _NAMES:
        return importlib.import_module("." + name, __name__)
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'fabricvp' has no attribute '{name}'")
    value = globals()[name] = getattr(importlib.import_module("." + _MODULE_OF[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
