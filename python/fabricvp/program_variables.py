# SPDX-License-Identifier: Apache-2.0
"""Variables of program scope: those that kernels write, and constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .byte_order import require_little_endian
from .compiler.elf import Elf

if TYPE_CHECKING:
    import numpy

    from .compiler import Image
    from .compiler.block import Variable
    from .compiler.constants import Constant
    from .gpu import Gpu


class ProgramVariable:
    """A variable of a program on its GPU."""

    def __init__(self, variable: Variable | Constant) -> None:
        import numpy

        self.name, self.shape, self.nbytes = variable.name, variable.shape, variable.size
        self.dtype: numpy.dtype[Any] = numpy.dtype(variable.dtype)

    def get(self) -> Any:
        """Its value: a number of numpy, an array, or bytes for a structure. Without simulated time."""
        import numpy

        data = self._read()
        if self.dtype.kind == "V":
            return data
        found = numpy.frombuffer(bytearray(data), self.dtype).reshape(self.shape)
        return found if self.shape else found[()]

    def set(self, value: Any) -> None:
        """Changes it: a number, what `numpy.asarray()` takes, or the bytes of a structure. Without simulated time.
        Raises `ValueError` for another size and for numbers that it cannot hold, and `TypeError` for a structure with
        big-endian fields."""
        import numpy

        if not isinstance(value, (bytes, bytearray)):
            given = numpy.asarray(value)
            if self.dtype.kind != "V":
                given = self._converted(given)
            require_little_endian(given)
            if given.shape != self.shape:
                raise ValueError(f"variable '{self.name}' has shape {self.shape}, not {given.shape}")
            value = given.tobytes()
        if len(value) != self.nbytes:
            raise ValueError(f"variable '{self.name}' has {self.nbytes} bytes, not {len(value)}")
        self._write(bytes(value))

    def _converted(self, given: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        """In the variable's type. Raises `ValueError` for whole numbers that it cannot hold."""
        import numpy

        with numpy.errstate(invalid="ignore"):
            found = given.astype(self.dtype)
        if self.dtype.kind in "iu" and given.dtype.kind in "iuf" and not numpy.array_equal(found, given):
            raise ValueError(f"variable '{self.name}' is of {self.dtype}, which cannot hold {given.tolist()!r:.60}")
        return found

    def _read(self) -> bytes:
        raise NotImplementedError

    def _write(self, data: bytes) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<variable {self.name}: {self.dtype.name}, shape {self.shape}>"


class BlockVariable(ProgramVariable):
    """One that kernels may write, in the program's block."""

    def __init__(self, gpu: Gpu, block: int, variable: Variable) -> None:
        super().__init__(variable)
        self._gpu, self._block, self._offset = gpu, block, variable.offset

    def _read(self) -> bytes:
        return self._gpu._read_array(self._block, self._offset, self.nbytes)

    def _write(self, data: bytes) -> None:
        self._gpu._write_array(self._block, self._offset, data)


class ProgramConstant(ProgramVariable):
    """One that is `__constant__`, in the image that each launch brings along."""

    def __init__(self, image: Image, constant: Constant) -> None:
        super().__init__(constant)
        self._image, self._address = image, constant.address

    def _read(self) -> bytes:
        elf = Elf(self._image.elf)
        return bytes(elf.data[elf.at(self._address, self.nbytes)])

    def _write(self, data: bytes) -> None:
        elf = Elf(self._image.elf)
        elf.data[elf.at(self._address, self.nbytes)] = data
        self._image.elf = bytes(elf.data)
