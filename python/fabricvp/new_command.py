# SPDX-License-Identifier: Apache-2.0
"""The commands `fabricvp new`, which makes small projects to start from, and `fabricvp sdk`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from .arguments import ArgumentParser
from .data import cmake_prefix, sdk_folder
from .errors import InputError

_TEMPLATES = Path(__file__).with_name("templates")
#: What can be made, with one line of help; a folder of `templates` each.
KINDS = {
    "kernel": "C for the GPU's lanes, launched from Python with numpy arrays",
    "firmware": "a program in C for the host's harts, with a machine of its own",
    "stage": "a mechanism at links between GPUs, as a plug-in in C++",
    "device": "a device on the host's bus, in Python and as a plug-in in C++, with a driver in C",
    "pcie-device": "a PCIe device with DMA and interrupts, in Python and in C++, with a driver in C",
    "gpu-host": "a program in C for the host that drives a GPU by packets, doorbells and signals",
    "hip-host": "a program in C for the host that uses HIP, and kernels in HIP",
    "opencl-host": "a program in C for the host that uses OpenCL 1.2, and kernels in OpenCL C",
    "service": "a service of a GPU's command processor in C, and a program of the host that uses it",
}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_RESERVED_NAMES = {
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "main",
    "run",
    "driver",
    "host",
    "model",
    "kernel",
    "kernels",
    "processor",
    "fabricvp",
    "numpy",
    # targets that CMake has
    "all",
    "clean",
    "help",
    "install",
    "library",
    "package",
    "test",
}


def main(argv: list[str]) -> int:
    """`fabricvp new KIND NAME`: 0, or `InputError`."""
    kinds = "\n".join(f"  {name:<12} {text}" for name, text in KINDS.items())
    parser = ArgumentParser(
        "new",
        f"Makes a folder NAME with a small project that `make -C NAME run` builds and runs.\n\nkinds:\n{kinds}\n\n"
        "C++ is built with CMake against the simulator's library (`fabricvp sdk --cmake`): a plug-in for `--plugin`.",
        "fabricvp new kernel saxpy && make -C saxpy run",
    )
    parser.add_argument("kind", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("name", metavar="NAME", help="of the project, the folder and the program")
    parser.add_argument(
        "--in",
        dest="where",
        metavar="DIR",
        default=".",
        help="folder that the project's folder goes into (default: here)",
    )
    options = parser.parse_args(argv)
    folder = make(options.kind, options.name, Path(options.where))
    print(
        f"made {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}\nbuild and run it with: make -C"
        f" {folder} run"
    )
    return 0


def make(kind: str, name: str, where: Path) -> Path:
    """Makes a project and gives its folder. Raises `InputError`; nothing is left half made then."""
    if kind not in KINDS:
        raise InputError(f"no kind of project '{kind}' (there are: {', '.join(KINDS)})")
    if not _NAME.fullmatch(name) or name in _RESERVED_NAMES:
        raise InputError(
            f"'{name}' is no name for a project: give up to 31 small letters, digits and _, a letter first, and no word"
            " of C"
        )
    if kind in ("device", "pcie-device") and name in sys.stdlib_module_names:
        raise InputError(f"'{name}' is a module of Python, which the device's own would hide: take another name")
    folder = where / name
    if folder.exists():
        raise InputError(f"{folder}: is there already")
    sdk_folder()  # says so if the project could not be built
    substitutions = {"@NAME@": name, "@PYTHON@": sys.executable}
    texts = {}
    for template in sorted(path for path in (_TEMPLATES / kind).iterdir() if path.is_file()):  # pip leaves __pycache__
        text = template.read_text()
        for placeholder, value in substitutions.items():
            text = text.replace(placeholder, value)
        texts[template.name.replace("@NAME@", name)] = text
    try:
        folder.mkdir(parents=True)
        for file, text in texts.items():
            (folder / file).write_text(text)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror})") from None
    return folder


def sdk_main(argv: list[str]) -> int:
    """`fabricvp sdk`: prints the folder that firmware and kernels are built with, or the one of plug-ins."""
    parser = ArgumentParser(
        "sdk",
        "Prints the folder with the headers, sources and linker scripts that firmware and kernels outside of the tree"
        " are built with; Makefiles include fabricvp.mk there.",
        "make -f Makefile SDK=$(fabricvp sdk)",
    )
    parser.add_argument(
        "--cmake",
        action="store_true",
        help="the prefix in which CMake finds the package `fabricvp` for plug-ins and programs in C++ instead"
        " (CMAKE_PREFIX_PATH)",
    )
    given = parser.parse_args(argv)
    print(cmake_prefix() if given.cmake else sdk_folder())
    return 0
