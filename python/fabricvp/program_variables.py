# SPDX-License-Identifier: Apache-2.0
"""Variables of program scope that kernels write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .byte_order import require_little_endian

if TYPE_CHECKING:
    import numpy

    from .compiler.block import Variable
    from .gpu import Gpu


class ProgramVariable:
    """A variable of a program on its GPU."""

    def __init__(self, gpu: Gpu, block: int, variable: Variable) -> None:
        import numpy

        self._gpu, self._block, self._variable = gpu, block, variable
        self.name, self.shape, self.nbytes = variable.name, variable.shape, variable.size
        self.dtype: numpy.dtype[Any] = numpy.dtype(variable.dtype)

    def get(self) -> Any:
        """Its value: a number of numpy, an array, or bytes for a structure. Without simulated time."""
        import numpy

        data = self._gpu._read_array(self._block, self._variable.offset, self._variable.size)
        if self.dtype.kind == "V":
            return data
        found = numpy.frombuffer(bytearray(data), self.dtype).reshape(self.shape)
        return found if self.shape else found[()]

    def set(self, value: Any) -> None:
        """Changes it: a number, what `numpy.asarray()` takes, or the bytes of a structure. Without simulated time.
        Raises `ValueError` for another size, and `TypeError` for a structure with big-endian fields."""
        import numpy

        if not isinstance(value, (bytes, bytearray)):
            given = numpy.asarray(value)
            if self.dtype.kind != "V":
                given = given.astype(self.dtype)
            require_little_endian(given)
            if given.shape != self.shape:
                raise ValueError(f"variable '{self.name}' has shape {self.shape}, not {given.shape}")
            value = given.tobytes()
        if len(value) != self.nbytes:
            raise ValueError(f"variable '{self.name}' has {self.nbytes} bytes, not {len(value)}")
        self._gpu._write_array(self._block, self._variable.offset, bytes(value))

    def __repr__(self) -> str:
        return f"<variable {self.name}: {self.dtype.name}, shape {self.shape}>"
