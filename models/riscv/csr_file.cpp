// SPDX-License-Identifier: Apache-2.0
#include "riscv/csr_file.h"

#include <cstring>

namespace fabricvp::riscv {

namespace {
constexpr std::uint64_t inhibit_cycle = 1, inhibit_retired = 4;

// Numbers that miselect and siselect choose (AIA 2.1).
constexpr std::uint64_t iprio0 = 0x30, iprio15 = 0x3f, imsic_first = 0x70, imsic_last = 0xff;

bool in(unsigned n, unsigned first, unsigned last) { return n >= first && n <= last; }
bool in_iprio(std::uint64_t select) { return select >= iprio0 && select <= iprio15; }
bool in_imsic(std::uint64_t select) { return select >= imsic_first && select <= imsic_last; }
}  // namespace

csr_file::csr_file(hart_state& state, pmp& protection, const hart_params& params, std::uint64_t hart_id,
                   csr_environment& environment)
    : m_state(state), m_pmp(protection), m_params(params), m_hart_id(hart_id), m_environment(environment) {}

void csr_file::reset() {
    m_cycle_offset = 0 - m_environment.cycle_count();
    m_retired_offset = 0 - m_environment.retired_count();
    m_cycle_stopped = m_retired_stopped = 0;
}

std::uint64_t csr_file::isa_register() const {
    const auto letter = [](char c) { return std::uint64_t{1} << (c - 'A'); };
    auto value = std::uint64_t{2} << 62 | letter('I') | letter('M') | letter('A') | letter('C');
    if (m_params.floating_point) value |= letter('F') | letter('D');
    if (m_params.supervisor) value |= letter('S') | letter('U');
    return value;
}

// clang-format off
bool csr_file::exists(unsigned n) const {
    using namespace csr;
    if (in(n, fflags, fcsr)) return m_params.floating_point;
    switch (n) {
    case sstatus: case sie: case stvec: case scounteren: case senvcfg: case sscratch: case sepc: case scause:
    case stval:
    case sip: case satp: case medeleg: case mideleg: case mcounteren: case menvcfg: return m_params.supervisor;
    case stimecmp: return m_params.supervisor && m_params.sstc;
    case siselect: case sireg: case stopei: case stopi: case mvien: case mvip:
        return m_state.aia && m_params.supervisor;
    case miselect: case mireg: case mtopei: case mtopi: return m_state.aia;
    case mstatus: case misa: case mie: case mtvec: case mcountinhibit: case mscratch: case mepc: case mcause:
    case mtval:
    case mip: case tselect: case tdata1: case tdata2: case tdata3: case mcycle: case minstret: case cycle: case time:
    case instret: case mvendorid: case marchid: case mimpid: case mhartid: case mconfigptr: return true;
    default: break;
    }
    if (in(n, mhpmevent3, mhpmevent31) || in(n, mhpmcounter3, mhpmcounter31)) return true;
    if (in(n, hpmcounter3, hpmcounter31)) return true;
    if (in(n, pmpcfg0, pmpcfg14) && !(n & 1)) return (n - pmpcfg0) * 4 < m_params.pmp_entries;
    if (in(n, pmpaddr0, pmpaddr63)) return n - pmpaddr0 < m_params.pmp_entries;
    return false;
}
// clang-format on

bool csr_file::counter_enabled(unsigned bit) const {
    if (m_state.mode == privilege::machine) return true;
    if (!(m_state.mcounteren >> bit & 1)) return false;
    return m_state.mode == privilege::supervisor || (m_state.scounteren >> bit & 1);
}

bool csr_file::may_access(unsigned n, bool write) const {
    using namespace csr;
    if (!exists(n)) return false;
    if (static_cast<unsigned>(m_state.mode) < (n >> 8 & 3)) return false;
    if (write && n >> 10 == 3) return false;
    const bool machine = m_state.mode == privilege::machine;
    if (in(n, fflags, fcsr)) return m_state.float_enabled();
    if (in(n, cycle, hpmcounter31)) return counter_enabled(n - cycle);
    if (n == satp && m_state.mode == privilege::supervisor) return !(m_state.mstatus & status::tvm);
    if (n == stimecmp && !machine) return m_state.stimecmp_enabled() && (m_state.mcounteren >> 1 & 1);
    return true;
}

std::uint64_t csr_file::sstatus_mask() const {
    return status::sie | status::spie | status::spp | status::fs | status::sum | status::mxr | status::uxl | status::sd;
}

std::uint64_t csr_file::top_interrupt(privilege level) const {
    const auto top = m_state.highest_priority(level);
    return top.code < 0 ? 0 : static_cast<std::uint64_t>(top.code) << 16 | top.priority;
}

// mvien is read-only zero, so mvip shows the bits of mip that software writes (AIA 5.3).
std::uint64_t csr_file::virtual_pending() const {
    return interrupt_bit::ssi | interrupt_bit::sei | (m_state.stimecmp_enabled() ? 0 : interrupt_bit::sti);
}

bool csr_file::read_indirect(privilege level, std::uint64_t select, std::uint64_t& value) const {
    if (in_iprio(select)) {
        value = 0;
        if (select & 1) return false;
        const auto& numbers = level == privilege::machine ? m_state.machine_priority : m_state.supervisor_priority;
        const auto first = (select - iprio0) * 4;
        if (first < numbers.size()) std::memcpy(&value, numbers.data() + first, 8);
        return true;
    }
    return in_imsic(select) && m_state.aia->read_indirect(level, static_cast<unsigned>(select), value);
}

bool csr_file::read(unsigned n, std::uint64_t& value) {
    using namespace csr;
    switch (n) {
        case fflags: value = m_state.fflags; return true;
        case frm: value = m_state.frm; return true;
        case fcsr: value = m_state.fflags | m_state.frm << 5; return true;
        default: break;
    }
    if (in(n, mcycle, mhpmcounter31) || in(n, cycle, hpmcounter31)) return read_counter(n, value);
    return (n >> 8 & 3) == 1 ? read_supervisor(n, value) : read_machine(n, value);
}

// clang-format off
bool csr_file::read_counter(unsigned n, std::uint64_t& value) {
    using namespace csr;
    switch (n) {
    case cycle: case mcycle:
        value = m_state.mcountinhibit & inhibit_cycle ? m_cycle_stopped : m_environment.cycle_count() + m_cycle_offset;
        return true;
    case instret: case minstret:
        value = m_state.mcountinhibit & inhibit_retired ? m_retired_stopped
                                                        : m_environment.retired_count() + m_retired_offset;
        return true;
    case time: value = m_environment.time_count(); return true;
    default: value = 0; return true;
    }
}

bool csr_file::read_supervisor(unsigned n, std::uint64_t& value) {
    using namespace csr;
    switch (n) {
    case sstatus: value = m_state.readable_mstatus() & sstatus_mask(); return true;
    case sie: value = m_state.mie & m_state.mideleg; return true;
    case sip: value = m_state.mip() & m_state.mideleg; return true;
    case stvec: value = m_state.stvec; return true;
    case scounteren: value = m_state.scounteren; return true;
    case senvcfg: value = m_state.senvcfg; return true;
    case sscratch: value = m_state.sscratch; return true;
    case sepc: value = m_state.sepc; return true;
    case scause: value = m_state.scause; return true;
    case stval: value = m_state.stval; return true;
    case stimecmp: value = m_state.stimecmp; return true;
    case satp: value = m_state.satp; return true;
    case siselect: value = m_state.siselect; return true;
    case sireg: return read_indirect(privilege::supervisor, m_state.siselect, value);
    case stopei: value = m_state.aia->top_external(privilege::supervisor); return true;
    case stopi: value = top_interrupt(privilege::supervisor); return true;
    default: return false;
    }
}

bool csr_file::read_machine(unsigned n, std::uint64_t& value) {
    using namespace csr;
    value = 0;
    if (in(n, pmpcfg0, pmpcfg14)) { value = m_pmp.read_config((n - pmpcfg0) * 4); return true; }
    if (in(n, pmpaddr0, pmpaddr63)) { value = m_pmp.read_address(n - pmpaddr0); return true; }
    switch (n) {
    case mstatus: value = m_state.readable_mstatus(); return true;
    case misa: value = isa_register(); return true;
    case medeleg: value = m_state.medeleg; return true;
    case mideleg: value = m_state.mideleg; return true;
    case mie: value = m_state.mie; return true;
    case mip: value = m_state.mip(); return true;
    case mtvec: value = m_state.mtvec; return true;
    case mcounteren: value = m_state.mcounteren; return true;
    case menvcfg: value = m_state.menvcfg; return true;
    case mcountinhibit: value = m_state.mcountinhibit; return true;
    case mscratch: value = m_state.mscratch; return true;
    case mepc: value = m_state.mepc; return true;
    case mcause: value = m_state.mcause; return true;
    case mtval: value = m_state.mtval; return true;
    case mhartid: value = m_hart_id; return true;
    case miselect: value = m_state.miselect; return true;
    case mireg: return read_indirect(privilege::machine, m_state.miselect, value);
    case mtopei: value = m_state.aia->top_external(privilege::machine); return true;
    case mtopi: value = top_interrupt(privilege::machine); return true;
    case mvip: value = m_state.mip_software & virtual_pending(); return true;
    default: return true;  // identification, mvien, triggers and event selectors read as zero
    }
}
// clang-format on

std::uint64_t csr_file::value_to_modify(unsigned n, std::uint64_t read_value) const {
    if (n != csr::mip && n != csr::sip) return read_value;
    const auto line = interrupt_bit::sei & ~m_state.mip_software;
    return read_value & ~line;
}

bool csr_file::write_indirect(privilege level, std::uint64_t select, std::uint64_t value) {
    const bool machine = level == privilege::machine;
    if (in_iprio(select)) {
        if (select & 1) return false;
        // A priority exists where an interrupt does; external interrupts take theirs from the interrupt file.
        const auto settable = !machine              ? interrupt_bit::ssi | interrupt_bit::sti
                              : m_params.supervisor ? interrupt_bit::all & ~interrupt_bit::mei
                                                    : interrupt_bit::msi | interrupt_bit::mti;
        auto& numbers = machine ? m_state.machine_priority : m_state.supervisor_priority;
        const auto first = (select - iprio0) * 4;
        for (auto code = first; code < first + 8 && code < numbers.size(); ++code)
            if (settable >> code & 1) numbers[code] = static_cast<std::uint8_t>(value >> 8 * (code - first));
        m_state.priorities_changed();
        return true;
    }
    return in_imsic(select) && m_state.aia->write_indirect(level, static_cast<unsigned>(select), value);
}

bool csr_file::peek(unsigned n, std::uint64_t& value) { return exists(n) && read(n, value); }

}  // namespace fabricvp::riscv
