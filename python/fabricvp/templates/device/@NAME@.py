# SPDX-License-Identifier: Apache-2.0
"""The device: squares a number within a microsecond, and says so by an interrupt."""

BASE, SIZE, IRQ = 0x2000_0000, 0x1000, 40
OPERAND, RESULT, STATUS = 0x0, 0x8, 0x10


class Device:
    """Called at the simulated time of each access; offsets and sizes are bytes, values little-endian integers."""

    LATENCY = "1 us"

    def __init__(self, platform):
        self.platform, self.interrupt = platform, None
        self.result = self.status = 0

    def attach(self, node):
        """Puts it on the bus of a node."""
        self.interrupt = node.add_device(BASE, SIZE, self, interrupt=IRQ, name="@NAME@").interrupt

    def read(self, offset, size):
        return {RESULT: self.result, STATUS: self.status}.get(offset, 0)

    def write(self, offset, size, value):
        if offset == OPERAND:
            self.platform.call_in(self.LATENCY, lambda: self.finish(value))
        elif offset == STATUS and value & 1:
            self.status = 0
            self.interrupt.clear()

    def finish(self, value):
        self.result, self.status = value * value % 2**64, 1
        self.interrupt.set()
