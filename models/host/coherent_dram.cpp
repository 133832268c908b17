// SPDX-License-Identifier: Apache-2.0
#include "host/coherent_dram.h"

namespace fabricvp::host {

// Harts reach what others share with them through the calendar only, as with any device.

void coherent_dram::read(std::uint64_t address, void* to, std::size_t bytes) {
    m_memory.touch_by_device(address - m_base, bytes);
    m_memory.read(address - m_base, to, bytes);
}

void coherent_dram::write(std::uint64_t address, const void* from, std::size_t bytes, const snooper* writer) {
    m_memory.touch_by_device(address - m_base, bytes);
    m_memory.write(address - m_base, from, bytes);
    written(address, bytes, writer);
}

std::uint64_t coherent_dram::atomic(std::uint64_t address, unsigned bytes, atomic_extension::operation what,
                                    std::uint64_t operand, std::uint64_t compare, const snooper* writer) {
    const auto offset = address - m_base;
    m_memory.touch_by_device(offset, bytes);
    m_memory.announce_write(offset, bytes);
    const auto old = perform_atomic(what, m_memory.data() + offset, bytes, operand, compare);
    m_memory.written(offset, bytes);
    written(address, bytes, writer);
    return old;
}

void coherent_dram::written(std::uint64_t address, std::uint64_t bytes, const snooper* writer) {
    for (auto* holder : m_snoopers)
        if (holder != writer) holder->invalidate_copies(address, bytes);
}

}  // namespace fabricvp::host
