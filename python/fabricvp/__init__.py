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

from .conditions import Breakpoint, ConsoleText, Marker, Watchpoint
from .data import config_path, configs, firmware_path, firmwares
from .errors import AddressError, ExpectTimeout, GuestStopped, InputError, RemoteError
from .faults import FaultArgument, FaultKind
from .gpu import App, Gpu, Wavefront, apps
from .platform import Platform
from .remote import RemotePlatform
from .results import Match, Outcome, RunResult, read_results
from .spawning import spawn
from .units import seconds, to_picoseconds

__version__ = "0.1.0"

__all__ = [
    "AddressError", "App", "Breakpoint", "ConsoleText", "ExpectTimeout", "FaultArgument", "FaultKind", "Gpu", "GuestStopped", "InputError",
    "Marker", "Match", "Outcome", "Platform", "RemoteError", "RemotePlatform", "RunResult", "Watchpoint", "Wavefront", "apps", "config_path", "configs", "firmware_path", "firmwares",
    "read_results", "seconds", "spawn", "to_picoseconds",
]
