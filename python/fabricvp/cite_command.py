# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp cite`: what to cite for the mechanisms that a configuration uses, as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable

from . import __version__
from .arguments import ArgumentParser

_ENTRIES = {
    "fabricvp": f"""@software{{fabricvp,
  title   = {{FabricVP: a SystemC/TLM-2.0 virtual platform of multi-GPU servers and clusters}},
  author  = {{{{The FabricVP authors}}}},
  version = {{{__version__}}}
}}""",
    "netcrafter": """@inproceedings{netcrafter,
  title     = {NetCrafter: Tailoring Network Traffic for Non-Uniform Bandwidth Multi-GPU Systems},
  author    = {Fatima, Amel and Yang, Yang and Sun, Yifan and Ausavarungnirun, Rachata and Jog, Adwait},
  booktitle = {International Symposium on Computer Architecture (ISCA)},
  year      = {2025}
}""",
    "numa_aware_gpus": """@inproceedings{numa_aware_gpus,
  title     = {Beyond the Socket: {NUMA}-Aware {GPUs}},
  author    = {Milic, Ugljesa and others},
  booktitle = {International Symposium on Microarchitecture (MICRO)},
  year      = {2017}
}""",
    "pcie_congestion": """@inproceedings{pcie_congestion,
  title     = {A {PCIe} Congestion-Aware Performance Model for Densely Populated Accelerator Servers},
  author    = {Martinasso, Maxime and Kwasniewski, Grzegorz and Alam, Sadaf R. and Schulthess, Thomas C. and
               Hoefler, Torsten},
  booktitle = {International Conference for High Performance Computing, Networking, Storage and Analysis (SC)},
  year      = {2016}
}""",
    "gpurdma": """@inproceedings{gpurdma,
  title     = {{GPUrdma}: {GPU}-Side Library for High Performance Networking from {GPU} Kernels},
  author    = {Daoud, Feras and Watad, Amir and Silberstein, Mark},
  booktitle = {International Workshop on Runtime and Operating Systems for Supercomputers (ROSS)},
  year      = {2016}
}""",
    "compnet": """@inproceedings{compnet,
  title     = {{ComP-Net}: Command Processor Networking for Efficient Intra-Kernel Communications on {GPUs}},
  author    = {LeBeane, Michael and Hamidouche, Khaled and Benton, Brad and Breternitz, Mauricio and
               Reinhardt, Steven K. and John, Lizy K.},
  booktitle = {International Conference on Parallel Architectures and Compilation Techniques (PACT)},
  year      = {2018}
}""",
}


def mechanisms(parameters: Iterable[tuple[str, object]]) -> dict[str, str]:
    """The entries to cite for a machine's resolved parameters (path, value), with the reason of each."""
    found = {"fabricvp": "the simulator"}
    gpus: set[str] = set()
    adapters: set[str] = set()
    for path, value in parameters:
        node = path.partition(".")[0]
        if path.endswith("stage.kind") and value == "netcrafter":
            found.setdefault("netcrafter", f"{path.rpartition('.')[0]} is NetCrafter")
        if path.endswith(".policy") and value in ("milic2017", "symmetric", "predictive"):
            found.setdefault("numa_aware_gpus", f"{path} is {value}: reversible lanes")
        if path.endswith(".compute_units"):
            gpus.add(node)
        if path.endswith(".translation.mtt_lines"):
            adapters.add(node)
        if ".upstream_port." in path:
            found.setdefault("pcie_congestion", f"{node} has PCIe switches, whose links endpoints share")
    if networked := sorted(gpus & adapters):
        found["gpurdma"] = (
            f"{networked[0]} has GPUs and an RDMA adapter: kernels may post to it (GPU-native networking)"
        )
        found["compnet"] = f"{networked[0]} has GPUs and an RDMA adapter: command processors may post to it"
    return {name: found[name] for name in _ENTRIES if name in found}


def main(arguments: list[str]) -> int:
    parser = ArgumentParser(
        "cite",
        "Prints BibTeX entries of what to cite for the mechanisms that a configuration uses.",
        "fabricvp cite netcrafter_quad_on > references.bib",
    )
    parser.add_argument("config", metavar="CONFIG", help="a YAML file, or the name of a shipped machine")
    parser.add_argument(
        "--plugin", metavar="FILE", action="append", default=[], help="load a plug-in first; repeatable"
    )
    given = parser.parse_args(arguments)
    from .platform import Platform

    with Platform.from_config(given.config, plugins=given.plugin) as platform:
        parameters = [(one.path, one.value) for one in platform._core.parameters()]
    for name, reason in mechanisms(parameters).items():
        print(f"% {reason}\n{_ENTRIES[name]}\n")
    return 0
