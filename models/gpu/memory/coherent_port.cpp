// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/coherent_port.h"

#include <algorithm>

namespace fabricvp::gpu {

void coherent_port_params::describe(parameter_visitor& v) {
    v.field("latency", latency, between{0, 1e9},
            "between the L2 and the cache that the host's harts share, there and back");
    v.field("rate", rate, between{1e6, 1e14}, "data rate of the way there, and of the way back");
}

coherent_port::coherent_port(const sc_core::sc_module_name& name, const coherent_port_params& p,
                             coherent_memory& memory)
    : model(name), params(p), m_memory(memory) {
    m_memory.add(*this);
}

void coherent_port::reset() {
    m_out_free = m_in_free = 0;
    model::reset();
}

/// A transfer that begins at `at`, behind those before it.
ticks coherent_port::occupy(ticks& free, unsigned bytes, ticks at) const {
    free =
        std::max(free, at) + static_cast<ticks>(static_cast<unsigned __int128>(bytes) * ticks_per_second / params.rate);
    return free;
}

ticks coherent_port::fetch(std::uint64_t line, ticks at) {
    ++reads;
    bytes_read += line_bytes;
    const ticks there = at + params.latency / 2;
    const ticks back = occupy(m_in_free, line_bytes, m_memory.access(line, line_bytes, false, there)) + params.latency -
                       params.latency / 2;
    read_latency.add(back - at);
    return back;
}

ticks coherent_port::write_through(std::uint64_t line, unsigned bytes, ticks at) {
    bytes_written += bytes;
    return m_memory.access(line, bytes, true, occupy(m_out_free, bytes, at) + params.latency / 2) + params.latency -
           params.latency / 2;
}

ticks coherent_port::write(std::uint64_t line, unsigned bytes, ticks at) {
    ++writes;
    const ticks back = write_through(line, bytes, at);
    write_latency.add(back - at);
    return back;
}

ticks coherent_port::modify(std::uint64_t line, unsigned bytes, ticks at) {
    ++atomics;
    return write_through(line, bytes, at);
}

void coherent_port::store_line(std::uint64_t line, const std::uint8_t* from, std::uint64_t mask) {
    while (mask) {
        const auto first = static_cast<unsigned>(__builtin_ctzll(mask));
        const auto rest = ~(mask >> first);
        const auto bytes = rest ? static_cast<unsigned>(__builtin_ctzll(rest)) : line_bytes;
        store(line + first, from + first, bytes);
        mask = first + bytes >= line_bytes ? 0 : mask & (~std::uint64_t{0} << (first + bytes));
    }
}

void coherent_port::invalidate_copies(std::uint64_t address, std::uint64_t bytes) {
    for (auto line = address & ~std::uint64_t{line_bytes - 1}; line < address + bytes; line += line_bytes) {
        ++probes;
        if (on_drop) on_drop(line);
    }
}

}  // namespace fabricvp::gpu
