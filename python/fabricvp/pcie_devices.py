# SPDX-License-Identifier: Apache-2.0
"""PCIe devices in Python: a class that configurations choose by ``kind``.

class Doubler(fabricvp.PcieDevice):
    kind, device, bars, vectors = "doubler", 0x00d0, {0: "4 KiB"}, 1

    def write(self, bar, offset, size, value):
        self.dma_read(value, 8, lambda done: self.dma_write(value, done.data * 2))

platform = fabricvp.Platform.from_config("machine.yaml", plugins=[Doubler])
"""

from __future__ import annotations

import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from . import _fabricvp
from .devices import Timer
from .errors import InputError
from .pcie_declarations import Bar, read_declarations
from .units import Time, to_picoseconds

_MAX_DMA_BYTES = 16 << 20


@dataclass(frozen=True)
class DmaRead:
    """How a read of host memory has ended. ``status`` is "ok", "unsupported_request", "completer_abort", "timeout",
    "poisoned", or "bus_master_off" where the driver does not let the device read; ``data`` is empty then."""

    status: str
    data: bytes

    @property
    def ok(self) -> bool:
        """All bytes are there."""
        return self.status == "ok"


class PcieDevice:
    """Base of PCIe endpoints in Python. A subclass says what it is by class attributes, and overrides `read()` and
    `write()`; all its methods are called at simulated times, on the simulation's thread, and must not block.

    An exception in a method ends the run and surfaces there; under the command, in one line with status 2.
    ``__init__()`` takes no arguments; parameters are attributes by then, and DMA and timers come later.
    """

    #: Name under which configurations choose it: ``pcie: {endpoints: [{name: d, kind: KIND}]}``.
    kind: ClassVar[str] = ""
    vendor: ClassVar[int] = 0xFAB0
    device: ClassVar[int] = 0
    #: class << 16 | subclass << 8 | programming interface
    class_code: ClassVar[int] = 0xFF0000
    revision: ClassVar[int] = 1
    subsystem_vendor: ClassVar[int] = 0xFAB0
    subsystem: ClassVar[int] = 1
    #: Sizes (bytes or "4 KiB"), or `Bar`, by number from 0 to 5.
    bars: ClassVar[Mapping[int, int | str | Bar]] = {}
    #: Vectors of MSI-X; 0: the pin alone. The table takes a 4 KiB BAR of its own, the last one that is free.
    vectors: ClassVar[int] = 0
    #: Keys of the configuration: name → (default, help). Text with a unit is a quantity; the attribute is in seconds,
    #: bytes, hertz, or bytes a second.
    parameters: ClassVar[Mapping[str, tuple[Any, str]]] = {}
    #: Counters: name → help, or (help, unit).
    statistics: ClassVar[Mapping[str, str | tuple[str, str]]] = {}

    _core: _fabricvp.Endpoint
    #: Path of the device, such as "node0.pcie.doubler".
    name: str

    # What the device does ------------------------------------------------------------------------------------------

    def read(self, bar: int, offset: int, size: int) -> int:
        """Software or another device reads ``size`` bytes (1 to 8, of one doubleword pair) of a BAR."""
        return 0

    def write(self, bar: int, offset: int, size: int, value: int) -> None:
        """The same for a write of a little-endian value."""

    def reset(self) -> None:
        """A reset of the function or the machine. Timers and reads under way are dropped before."""

    # What it can do ------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return self._core.now() / 1e12

    def call_in(self, delay: Time, function: Callable[[], object]) -> Timer:
        """Calls a function after a simulated time. A reset drops the call."""
        return Timer(self._core.call_in(to_picoseconds(delay), function))

    def dma_read(self, address: int, size: int, done: Callable[[DmaRead], object]) -> None:
        """Reads host memory (or another device's) by TLPs over the device's link, and calls ``done(DmaRead)`` when the
        last completion has arrived. Raises `ValueError` for 0 or more than 16 MiB."""
        self._check_dma(address, size)
        if not self._core.bus_master():
            self.call_in(0, lambda: done(DmaRead("bus_master_off", b"")))
            return
        self._core.read_host(address, size, lambda status, data: done(DmaRead(status, data)))

    def dma_write(self, address: int, data: bytes | bytearray | memoryview) -> bool:
        """Writes host memory (or another device's). Writes are posted: whatever the device sends later, interrupts too,
        is seen later. False where the driver does not let the device write. Raises `ValueError` as `dma_read()`."""
        contents = bytes(data)
        self._check_dma(address, len(contents))
        if not self._core.bus_master():
            return False
        self._core.write_host(address, contents)
        return True

    def interrupt(self, vector: int = 0) -> None:
        """Sends an MSI-X message, if software has enabled them; else the pin goes up, until `clear_interrupt()`."""
        if not 0 <= vector < max(self.vectors, 1):
            raise ValueError(f"there is no interrupt vector {vector}: {self.name} has {self.vectors}")
        if self._core.message_interrupts():
            self._core.interrupt(vector)
        else:
            self._core.set_pin(True)

    def clear_interrupt(self) -> None:
        """The pin goes down; without effect under MSI-X."""
        self._core.set_pin(False)

    def count(self, statistic: str, n: int = 1) -> None:
        """Adds to one of ``statistics``. Raises `KeyError`."""
        if statistic not in self.statistics:
            raise KeyError(statistic)
        self._core.count(list(self.statistics).index(statistic), n)

    def _check_dma(self, address: int, size: int) -> None:
        if not 0 < size <= _MAX_DMA_BYTES or not 0 <= address <= 2**64 - size:
            raise ValueError(f"DMA of {size} bytes at {address:#x}: 1 to {_MAX_DMA_BYTES} bytes within 64 bits")

    def _function_reset(self) -> None:
        self._core.set_pin(False)
        self.reset()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def register(cls: type[PcieDevice]) -> None:
    """Makes a class known to configurations. Raises `InputError` where it declares what cannot be."""
    if not isinstance(cls, type) or not issubclass(cls, PcieDevice):
        raise TypeError(f"{cls!r} is no subclass of fabricvp.PcieDevice")
    declared = read_declarations(cls, PcieDevice)
    _fabricvp.add_endpoint_class(
        cls.kind,
        (cls.__doc__ or "a device in Python").strip().splitlines()[0],
        declared.identity,
        declared.bars,
        declared.vectors,
        declared.msix_bar,
        0,
        declared.parameters,
        declared.statistics,
        lambda core, name, values: _make(cls, core, name, values),
    )


def _make(cls: type[PcieDevice], core: _fabricvp.Endpoint, name: str, values: dict[str, Any]) -> PcieDevice:
    device = cls.__new__(cls)
    device._core, device.name = core, name
    for key, value in values.items():
        setattr(device, key, value)
    device.__init__()  # type: ignore[misc]
    return device


def load_file(path: str) -> None:
    """Runs a file, and registers the devices that it defines. Raises `InputError` where there are none."""
    name = f"fabricvp_plugin_{re.sub(r'[^A-Za-z0-9]', '_', path)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError("is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.append(folder)  # for what lies beside it
    spec.loader.exec_module(module)
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, PcieDevice) and value.__module__ == name
    ]
    if not found:
        raise InputError("defines no subclass of fabricvp.PcieDevice")
    for cls in found:
        register(cls)


def one_line(error: BaseException) -> str:
    """An exception with the place where it was raised."""
    if isinstance(error, InputError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    text = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {text}"
    return f"{frames[-1].filename}:{frames[-1].lineno}: {text}" if frames else text
