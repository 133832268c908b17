# SPDX-License-Identifier: Apache-2.0
"""Errors that the package raises beside Python's own."""

from ._fabricvp import InputError


class AddressError(IndexError):
    """Nothing answers at an address of a node, or the response is shorter than what was asked for."""


class ExpectTimeout(TimeoutError):
    """The console did not show what was expected within the given simulated time.

    ``seen`` holds the output since the previous match.
    """

    def __init__(self, message: str, seen: str = "") -> None:
        super().__init__(message)
        self.seen = seen

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.args[0], self.seen)


class GuestStopped(RuntimeError):
    """The guest powered off, failed or stood still before what was waited for happened. ``result`` says how."""

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.args[0], self.result)


class KernelFault(RuntimeError):
    """A kernel of `Gpu.launch()` ended with a fault. ``fault`` is its number (`enum gpu_fault` of abi/gpu.h;
    256: it ran too long)."""

    def __init__(self, message: str, fault: int = 0) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.args[0], self.fault)


class RemoteError(RuntimeError):
    """A platform in a child process is gone, or raised something that cannot be carried between processes."""


__all__ = ["AddressError", "ExpectTimeout", "GuestStopped", "InputError", "KernelFault", "RemoteError"]
