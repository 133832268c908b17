# SPDX-License-Identifier: Apache-2.0
"""The device: reads numbers from host memory, squares them, writes the squares back, and interrupts."""

import fabricvp
import numpy

SOURCE, DESTINATION, COUNT, STATUS = 0x00, 0x08, 0x10, 0x14  # as in registers.h
START, DONE, FAILED = 1, 2, 4


class Device(fabricvp.PcieDevice):
    """squares numbers in host memory"""

    kind = "@NAME@"
    vendor, device, class_code = 0x1234, 0x5a0e, 0x120000  # processing accelerator
    bars = {0: "4 KiB"}
    vectors = 1
    parameters = {"latency": ("500 ns", "from the numbers' arrival to their squares")}
    statistics = {"jobs": "jobs done", "numbers": "numbers squared"}

    def __init__(self):
        self.reset()

    def reset(self):
        self.registers = {SOURCE: 0, DESTINATION: 0, COUNT: 0, STATUS: 0}

    def read(self, bar, offset, size):
        return self.registers.get(offset, 0)

    def write(self, bar, offset, size, value):
        if offset == STATUS:
            self.registers[STATUS] &= ~value  # ones clear
            self.clear_interrupt()
            if value & START:
                self.start()
        elif offset in self.registers:
            self.registers[offset] = value

    def start(self):
        if 0 < self.registers[COUNT] <= 65536:
            self.dma_read(self.registers[SOURCE], 8 * self.registers[COUNT], self.arrived)
        else:
            self.finish(FAILED)

    def arrived(self, done):
        if done.ok:
            self.call_in(self.latency, lambda: self.write_back(done.data))
        else:
            self.finish(FAILED)

    def write_back(self, data):
        numbers = numpy.frombuffer(data, "<u8")
        self.dma_write(self.registers[DESTINATION], (numbers * numbers).tobytes())
        self.count("numbers", len(numbers))
        self.finish(DONE)

    def finish(self, status):
        self.count("jobs")
        self.registers[STATUS] |= status
        self.interrupt()  # behind the squares, which the host sees first
