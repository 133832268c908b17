# SPDX-License-Identifier: Apache-2.0
"""One computer of the machine: harts, memory, devices, console."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _fabricvp
from .console import Console
from .devices import Device, DeviceObject
from .disks import Disk
from .fabric import Fabric
from .gpu import Gpu
from .launch import Jobs
from .memory import Memory
from .pcie import Pcie
from .results import NodeOutcome, NodeState
from .units import PICOSECONDS

if TYPE_CHECKING:
    from .platform import Platform

_FIRST_FLOAT, _FIRST_CSR, _PC = 33, 65, 32  # GDB's numbering of RISC-V registers


class Node:
    """One computer: ``harts``, ``memory``, ``console``, ``devices``, ``disks``, ``pcie``, ``gpus``, ``fabric``,
    ``outcome``."""

    def __init__(self, platform: Platform, index: int) -> None:
        self._platform = platform
        self._core = platform._core
        self.index = index

    @cached_property
    def harts(self) -> list[Hart]:
        """The node's harts (hardware threads)."""
        return [Hart(self._core, self.index, n) for n in range(self._core.hart_count(self.index))]

    @cached_property
    def memory(self) -> Memory:
        """Physical memory and devices as the node's bus decodes them."""
        return Memory(self._core, self.index)

    @cached_property
    def pcie(self) -> Pcie:
        """The PCIe tree: messages between its copy engines."""
        return Pcie(self)

    @cached_property
    def disks(self) -> dict[str, Disk]:
        """Disks on PCIe (kind `virtio_blk`) by name."""
        found = enumerate(_fabricvp.disks(self._core, self.index))
        return {name: Disk(self, number, name, size) for number, (name, size) in found}

    @property
    def queue_pairs(self) -> list[str]:
        """Queue pairs of the node's RDMA adapters that are not in the reset state, a line each: type, state, what it is
        connected to, entries that are outstanding."""
        return _fabricvp.queue_pairs(self._core, self.index).splitlines()

    @cached_property
    def fabric(self) -> Fabric:
        """The fabric between the node's GPUs: what its links carried."""
        return Fabric(self)

    @cached_property
    def gpus(self) -> list[Gpu]:
        """The node's GPUs, in the order of the configuration."""
        return [Gpu(self._platform, self.index, n) for n in range(_fabricvp.gpu_count(self._core, self.index))]

    @cached_property
    def kernel_jobs(self) -> Jobs:
        """The driver that `Gpu.launch()` gives kernels to."""
        return Jobs(self)

    @cached_property
    def console(self) -> Console:
        """The serial line."""
        return Console(self)

    @cached_property
    def devices(self) -> dict[str, DeviceRegisters]:
        """Devices of the node that declare registers, by name ("uart", "plic")."""
        found: dict[str, DeviceRegisters] = {}
        for register in self._core.device_registers(self.index):
            found.setdefault(register.device, DeviceRegisters(register.device))._add(register)
        return found

    def add_device(
        self, base: int, size: int, device: DeviceObject, *, interrupt: int | None = None, name: str | None = None
    ) -> Device:
        """Puts a Python object on the bus at physical address ``base``, ``size`` bytes.

        ``device.read(offset, size)`` gives an integer, ``device.write(offset, size, value)`` takes one; sizes are 1, 2,
        4 or 8 bytes, values little-endian. They are called at the simulated time of the access with the GIL held, and
        must not block; an exception ends `Platform.run()` and is raised there, and the guest sees a bus error.
        ``interrupt`` is a source of the interrupt controller (PLIC) that ``.interrupt`` of the result drives.

        Raises `InputError` if the range is empty or not free or the interrupt source does not exist, `TypeError` if the
        object has no such methods.
        """
        for method in ("read", "write"):
            if not callable(getattr(device, method, None)):
                raise TypeError(f"a device needs a method {method}(); {type(device).__name__} has none")
        handle = self._core.add_device(
            self.index,
            base,
            size,
            device,
            name or type(device).__name__.lower(),
            -1 if interrupt is None else interrupt,
        )
        return Device(handle, device, base, size, interrupt)

    @property
    def outcome(self) -> NodeOutcome:
        """How far the node has come since power-on or its last reset: running, powered off or failed."""
        state, status, detail, ended = self._core.outcome(self.index)
        return NodeOutcome(
            NodeState(state), status, detail, None if state == NodeState.RUNNING else ended / PICOSECONDS
        )

    @property
    def app_ok(self) -> bool | None:
        """Whether the node's GPU application computed what an independent reference on its host says; None before it
        has ended, and where there is none."""
        verdict = self._platform.statistics.get(f"node{self.index}.app.ok")
        return None if verdict is None else verdict == 1

    def reset(self) -> None:
        """Power-on reset of this node; images are loaded anew. Other nodes, statistics and time go on."""
        self._core.reset(self.index)

    def address_of(self, where: int | str) -> int:
        """An address, or that of a symbol ("main", "main+8") of an ELF file loaded into this node; of several files the
        one loaded last wins. Raises `InputError` if there is no such symbol."""
        if not isinstance(where, str):
            return int(where)
        name, _, offset = where.partition("+")
        address = self._core.symbol(self.index, name.strip())
        return address + (int(offset, 0) if offset else 0)

    def __repr__(self) -> str:
        return f"<Node {self.index} with {len(self.harts)} hart{'s' * (len(self.harts) != 1)}>"


class Hart:
    """A hart's registers, between runs. ``pc`` and ``x[n]`` are 64-bit integers, ``csr["mstatus"]`` as the guest reads
    it."""

    def __init__(self, core: _fabricvp.Session, node: int, index: int) -> None:
        self._core, self._node, self.index = core, node, index
        self.x = Registers(self)
        self.f = FloatRegisters(self)
        self.csr = ControlRegisters(self)

    @property
    def name(self) -> str:
        """Path of the hart, as in statistics."""
        return self._core.hart_name(self._node, self.index)

    @property
    def pc(self) -> int:
        """Address of the next instruction."""
        return self._read(_PC)

    @pc.setter
    def pc(self, value: int) -> None:
        self._write(_PC, value)

    @property
    def state(self) -> str:
        """One line for people ("running, S-mode", "wfi")."""
        return self._core.hart_state(self._node, self.index)

    def _read(self, number: int) -> int:
        value = self._core.read_register(self._node, self.index, number)
        if value is None:
            raise KeyError(f"{self.name} has no such register")
        return value

    def _write(self, number: int, value: int) -> None:
        if not self._core.write_register(self._node, self.index, number, int(value) & (1 << 64) - 1):
            raise KeyError(f"{self.name} has no such register")

    def __repr__(self) -> str:
        return f"<Hart {self.name}, pc {self.pc:#x}, {self.state}>"


_ABI = {
    name: n
    for n, name in enumerate(
        "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6".split()
    )
}
_ABI["fp"] = 8


class Registers:
    """Integer registers by number or ABI name: ``hart.x[10]``, ``hart.x["a0"]``."""

    def __init__(self, hart: Hart) -> None:
        self._hart = hart

    def _number(self, key: int | str) -> int:
        number = _ABI.get(key, -1) if isinstance(key, str) else key
        if not 0 <= number < 32:
            raise IndexError(f"no integer register {key!r}: 0 … 31 or an ABI name")
        return number

    def __getitem__(self, key: int | str) -> int:
        return self._hart._read(self._number(key))

    def __setitem__(self, key: int | str, value: int) -> None:
        self._hart._write(self._number(key), value)

    def __len__(self) -> int:
        return 32

    def __iter__(self) -> Iterator[int]:
        return (self[n] for n in range(32))


class FloatRegisters(Registers):
    """Floating-point registers as 64-bit patterns: ``hart.f[0]``."""

    def _number(self, key: int | str) -> int:
        if not isinstance(key, int) or not 0 <= key < 32:
            raise IndexError(f"no floating-point register {key!r}: 0 … 31")
        return _FIRST_FLOAT + key


class ControlRegisters:
    """Control and status registers by name or number: ``hart.csr["mstatus"]``, ``hart.csr[0x300]``. Raises `KeyError`
    where the hart has none."""

    def __init__(self, hart: Hart) -> None:
        self._hart = hart

    def _number(self, key: int | str) -> int:
        number = _fabricvp.csr_number(key) if isinstance(key, str) else key
        if number is None or not 0 <= number < 4096:
            raise KeyError(f"no CSR {key!r}")
        return _FIRST_CSR + number

    def __getitem__(self, key: int | str) -> int:
        return self._hart._read(self._number(key))

    def __setitem__(self, key: int | str, value: int) -> None:
        self._hart._write(self._number(key), value)

    def __contains__(self, key: int | str) -> bool:
        try:
            number = self._number(key)
        except KeyError:
            return False
        return self._hart._core.has_csr(self._hart._node, self._hart.index, number - _FIRST_CSR)


class DeviceRegisters(Mapping[str, "int | list[int]"]):
    """Registers of one device by name. Reading has no side effect, writing neither: handlers of the model do not run.

    A register that is an array is a list; ``registers["priority"][3]`` reads, and ``set("priority", 7, index=3)``
    writes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._registers: dict[str, _fabricvp.Register] = {}

    def _add(self, register: _fabricvp.Register) -> None:
        self._registers[register.name] = register

    def __getitem__(self, name: str) -> int | list[int]:
        register = self._registers[name]
        values = [register.get(index) for index in range(register.count)]
        return values[0] if register.count == 1 else values

    def set(self, name: str, value: int, index: int = 0) -> None:
        """Sets the stored value. Raises `KeyError`, `IndexError`."""
        register = self._registers[name]
        if not 0 <= index < register.count:
            raise IndexError(f"{self.name}.{name} has {register.count} elements")
        register.set(value, index)

    def __setitem__(self, name: str, value: int) -> None:
        self.set(name, value)

    def fields(self, name: str) -> dict[str, int]:
        """A register's fields by name, as they are now."""
        register = self._registers[name]
        value = register.get(0)
        return {field: value >> low & (1 << width) - 1 for field, low, width, _ in register.fields}

    def describe(self, name: str) -> list[tuple[str, int, int, str]]:
        """A register's fields: name, lowest bit, width in bits, help."""
        return self._registers[name].fields

    def offset(self, name: str) -> int:
        """Offset of a register from the device's base, in bytes."""
        return self._registers[name].offset

    def __iter__(self) -> Iterator[str]:
        return iter(self._registers)

    def __len__(self) -> int:
        return len(self._registers)

    def __repr__(self) -> str:
        return f"<registers of {self.name}: {', '.join(self._registers)}>"

    __hash__: Any = object.__hash__
