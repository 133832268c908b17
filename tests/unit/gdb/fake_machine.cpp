// SPDX-License-Identifier: Apache-2.0
#include "fake_machine.h"

#include <cstring>

namespace fabricvp::testing {

using riscv::stop_reason;
using riscv::watch_kind;

void fake_hart::stop(stop_reason reason, std::uint64_t address) {
    m_halted = true;
    if (m_listener) m_listener->stopped(*this, reason, address);
}

void fake_hart::execute() {
    if (m_halted) return;
    if (!m_stepping) {
        if (breakpoints.count({pc, false})) return stop(stop_reason::breakpoint, pc);
        if (breakpoints.count({pc, true})) return stop(stop_reason::hardware_breakpoint, pc);
    }
    const std::uint64_t at = pc;
    pc = pc + 4 < program + program_size ? pc + 4 : program;
    ++x[5];
    const bool writes = at == program + 8, reads = at == program + 16;
    if (writes) write_memory(variable, &x[5], 4);
    for (const auto& [address, size, kind] : watchpoints) {
        if (variable - address >= size) continue;
        if (writes && kind == watch_kind::write) return stop(stop_reason::watch_write, variable);
        if (reads && kind == watch_kind::read) return stop(stop_reason::watch_read, variable);
        if ((reads || writes) && kind == watch_kind::access) return stop(stop_reason::watch_access, variable);
    }
    if (m_stepping) {
        m_stepping = false;
        stop(stop_reason::step, pc);
    }
}

bool fake_hart::read_register(unsigned number, std::uint64_t& value) {
    if (number < 32)
        value = x[number];
    else if (number == 32)
        value = pc;
    else if (number < 65)
        value = f[number - 33];
    else if (number == 4161)
        value = 3;
    else if (csrs.count(number - 65))
        value = csrs[number - 65];
    else
        return false;
    return true;
}

bool fake_hart::write_register(unsigned number, std::uint64_t value) {
    if (number == 0) return false;
    if (number < 32)
        x[number] = value;
    else if (number == 32)
        pc = value;
    else if (number < 65)
        f[number - 33] = value;
    else if (csrs.count(number - 65))
        csrs[number - 65] = value;
    else
        return false;
    return true;
}

std::size_t fake_hart::read_memory(std::uint64_t address, void* to, std::size_t size) {
    if (address - fake_machine::base >= fake_machine::size) return 0;
    size = std::min<std::uint64_t>(size, fake_machine::base + fake_machine::size - address);
    std::memcpy(to, m_machine.memory.data() + (address - fake_machine::base), size);
    return size;
}

std::size_t fake_hart::write_memory(std::uint64_t address, const void* from, std::size_t size) {
    if (address - fake_machine::base >= fake_machine::size) return 0;
    size = std::min<std::uint64_t>(size, fake_machine::base + fake_machine::size - address);
    std::memcpy(m_machine.memory.data() + (address - fake_machine::base), from, size);
    return size;
}

fake_machine::fake_machine(unsigned count) {
    for (unsigned n = 0; n < count; ++n) harts.push_back(std::make_unique<fake_hart>(*this, n));
    for (std::uint64_t at = 0; at < fake_hart::program_size; at += 4) memory.replace(at, 4, "\x13\0\0\0", 4);  // nop
}

void fake_machine::run(unsigned instructions) {
    slice_ended = false;
    for (unsigned n = 0; n < instructions && !slice_ended; ++n)
        for (auto& h : harts) h->execute();
}

gdb_process fake_machine::process() {
    gdb_process p;
    p.name = "node0";
    for (auto& h : harts) p.threads.push_back(h.get());
    p.memory = {{0x1000, 0x1000, false}, {base, size, true}};
    return p;
}

gdb_hooks fake_machine::hooks() {
    gdb_hooks h;
    h.end_slice = [this] { slice_ended = true; };
    h.reset = [this] {
        ++resets;
        for (auto& hart : harts) hart->pc = fake_hart::program, hart->resume();
    };
    h.kill = [this] { killed = true; };
    h.now = [] { return ticks{1'500'000}; };
    h.statistics = [](const std::string& prefix) {
        statistics_snapshot all{{"node0.host.hart0.instructions", 42}, {"node0.host.uart0.bytes", 7}}, chosen;
        for (const auto& [path, value] : all)
            if (path.compare(0, prefix.size(), prefix) == 0) chosen.emplace(path, value);
        return chosen;
    };
    h.restart_statistics = [this] { ++statistics_restarts; };
    h.start_trace = [this](const std::string& file) { return trace = file.empty() ? "trace.perfetto" : file; };
    h.stop_trace = [this] { trace.clear(); };
    return h;
}

bool fake_machine::clean() const {
    for (const auto& h : harts)
        if (h->has_listener() || !h->breakpoints.empty() || !h->watchpoints.empty() || h->halted() || h->lockstep)
            return false;
    return true;
}

}  // namespace fabricvp::testing
