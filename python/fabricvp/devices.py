# SPDX-License-Identifier: Apache-2.0
"""Python objects inside the machine."""

from __future__ import annotations

from typing import Any, Protocol

from . import _fabricvp


class DeviceObject(Protocol):
    """What `Node.add_device()` takes."""

    def read(self, offset: int, size: int) -> int:
        """The guest reads ``size`` bytes (1, 2, 4, 8) at ``offset``; gives the value."""

    def write(self, offset: int, size: int, value: int) -> None:
        """The guest writes ``value`` of ``size`` bytes at ``offset``."""


class InterruptLine:
    """A level-sensitive input of the interrupt controller; to be driven before a run or in callbacks."""

    def __init__(self, handle: _fabricvp.Device, source: int) -> None:
        self._handle, self.source = handle, source

    @property
    def level(self) -> bool:
        """The line's level. Assign to drive it."""
        return self._handle.interrupt_level()

    @level.setter
    def level(self, value: bool) -> None:
        self._handle.set_interrupt(bool(value))

    def set(self) -> None:
        """Raises the line."""
        self.level = True

    def clear(self) -> None:
        """Lowers the line."""
        self.level = False


class Device:
    """A Python object on a node's bus. ``object`` is the object, ``interrupt`` its `InterruptLine` or None."""

    def __init__(self, handle: _fabricvp.Device, obj: Any, base: int, size: int, source: int | None) -> None:
        self._handle = handle
        self.object, self.base, self.size = obj, base, size
        self.interrupt = None if source is None else InterruptLine(handle, source)

    def __repr__(self) -> str:
        return f"<Device {type(self.object).__name__} at {self.base:#x}, {self.size:#x} bytes>"


class Timer:
    """A call under way, from `Platform.call_in()` or `call_at()`, or `PcieDevice.call_in()`."""

    def __init__(self, handle: _fabricvp.Timer | _fabricvp.EndpointTimer) -> None:
        self._handle = handle

    @property
    def active(self) -> bool:
        """True until it has been called or cancelled, or a reset of its PCIe device has dropped it."""
        return self._handle.active()

    def cancel(self) -> None:
        """Takes the call back, if it has not happened."""
        self._handle.cancel()
