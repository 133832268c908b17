// SPDX-License-Identifier: Apache-2.0
// Writes to CSRs: legal values and side effects.
#include "riscv/csr_file.h"

namespace fabricvp::riscv {

namespace {
constexpr std::uint64_t exceptions_to_delegate = 0xb3ff;  // all but ecall from M and reserved codes
constexpr std::uint64_t bit_fiom = 1, bit_stce = std::uint64_t{1} << 63;
constexpr std::uint64_t inhibit_cycle = 1, inhibit_retired = 4;
constexpr std::uint64_t counters = 0xffffffff;
constexpr std::uint64_t selects = 0x1ff;

bool in(unsigned n, unsigned first, unsigned last) { return n >= first && n <= last; }

/// Direct and vectored are legal; a write of another mode is ignored.
std::uint64_t trap_vector(std::uint64_t old, std::uint64_t value) { return value & 2 ? old : value; }
}  // namespace

void csr_file::write_mstatus(std::uint64_t value, std::uint64_t mask) {
    const auto old = m_state.mstatus;
    auto writable = status::mie | status::mpie;
    if (m_params.supervisor)
        writable |= status::sie | status::spie | status::spp | status::mpp | status::mprv | status::sum | status::mxr |
                    status::tvm | status::tw | status::tsr;
    if (m_params.floating_point) writable |= status::fs;
    if ((value >> status::mpp_shift & 3) == 2) writable &= ~status::mpp;  // reserved privilege: keeps the old one
    writable &= mask;
    m_state.mstatus = (old & ~writable) | (value & writable);
    const auto changed = old ^ m_state.mstatus;
    if (changed & status::mxr) m_environment.translation_changed();
    if (changed & (status::mprv | status::mpp | status::sum | status::fs)) m_environment.context_changed();
}

void csr_file::write_mip(std::uint64_t value, std::uint64_t mask) {
    if (m_state.stimecmp_enabled()) mask &= ~interrupt_bit::sti;
    m_state.mip_software = (m_state.mip_software & ~mask) | (value & mask);
}

void csr_file::write_satp(std::uint64_t value) {
    const auto scheme = value >> 60;
    if ((scheme != 0 && scheme != 8 && scheme != 9) || value == m_state.satp) return;
    m_state.satp = value;
    m_environment.translation_changed();
}

// clang-format off
bool csr_file::write(unsigned n, std::uint64_t value) {
    using namespace csr;
    switch (n) {
    case fflags: m_state.fflags = value & 31; m_state.mstatus |= status::fs; return true;
    case frm: m_state.frm = value & 7; m_state.mstatus |= status::fs; return true;
    case fcsr:
        m_state.fflags = value & 31;
        m_state.frm = value >> 5 & 7;
        m_state.mstatus |= status::fs;
        return true;
    default: return (n >> 8 & 3) == 1 ? write_supervisor(n, value) : write_machine(n, value);
    }
}

bool csr_file::write_supervisor(unsigned n, std::uint64_t value) {
    using namespace csr;
    const auto delegated = m_state.mideleg;
    switch (n) {
    case sstatus: write_mstatus(value, sstatus_mask()); return true;
    case sie: m_state.mie = (m_state.mie & ~delegated) | (value & delegated); return true;
    case sip: write_mip(value, interrupt_bit::ssi & delegated); return true;
    case stvec: m_state.stvec = trap_vector(m_state.stvec, value); return true;
    case scounteren: m_state.scounteren = value & counters; return true;
    case senvcfg: m_state.senvcfg = value & bit_fiom; return true;
    case sscratch: m_state.sscratch = value; return true;
    case sepc: m_state.sepc = value & ~std::uint64_t{1}; return true;
    case scause: m_state.scause = value; return true;
    case stval: m_state.stval = value; return true;
    case stimecmp:
        m_state.stimecmp = value;
        m_environment.stimecmp_changed();
        return true;
    case satp: write_satp(value); return true;
    case siselect: m_state.siselect = value & selects; return true;
    case sireg: return write_indirect(privilege::supervisor, m_state.siselect, value);
    case stopei: m_state.aia->claim_top_external(privilege::supervisor); return true;
    default: return false;
    }
}

bool csr_file::write_machine(unsigned n, std::uint64_t value) {
    using namespace csr;
    if (in(n, pmpcfg0, pmpcfg14)) {
        m_pmp.write_config((n - pmpcfg0) * 4, value);
        m_environment.protection_changed();
        return true;
    }
    if (in(n, pmpaddr0, pmpaddr63)) {
        m_pmp.write_address(n - pmpaddr0, value);
        m_environment.protection_changed();
        return true;
    }
    switch (n) {
    case mstatus: write_mstatus(value, ~std::uint64_t{0}); return true;
    case medeleg: m_state.medeleg = value & exceptions_to_delegate; return true;
    case mideleg: m_state.mideleg = value & interrupt_bit::supervisor; return true;
    case mie: m_state.mie = value & (m_params.supervisor ? interrupt_bit::all : interrupt_bit::machine); return true;
    case mip: write_mip(value, m_params.supervisor ? interrupt_bit::supervisor : 0); return true;
    case mtvec: m_state.mtvec = trap_vector(m_state.mtvec, value); return true;
    case mcounteren: m_state.mcounteren = value & counters; return true;
    case menvcfg:
        m_state.menvcfg = value & (bit_fiom | (m_params.sstc ? bit_stce : 0));
        m_environment.stimecmp_changed();
        return true;
    case mcountinhibit: {
        std::uint64_t cycles_now, retired_now;
        read_counter(mcycle, cycles_now);
        read_counter(minstret, retired_now);
        m_state.mcountinhibit = value & counters & ~std::uint64_t{2};
        write_machine(mcycle, cycles_now);
        write_machine(minstret, retired_now);
        return true;
    }
    case mcycle:
        m_cycle_stopped = value;
        m_cycle_offset = value - m_environment.cycle_count();
        return true;
    case minstret:
        // The counter takes the value in place of counting the instruction that writes it.
        m_retired_stopped = value;
        m_retired_offset = value - m_environment.retired_count() - 1;
        return true;
    case mscratch: m_state.mscratch = value; return true;
    case mepc: m_state.mepc = value & ~std::uint64_t{1}; return true;
    case mcause: m_state.mcause = value; return true;
    case mtval: m_state.mtval = value; return true;
    case mvip: write_mip(value, virtual_pending()); return true;
    case miselect: m_state.miselect = value & selects; return true;
    case mireg: return write_indirect(privilege::machine, m_state.miselect, value);
    case mtopei: m_state.aia->claim_top_external(privilege::machine); return true;
    default: return true;  // misa, mvien, triggers, event selectors and their counters are read-only zeros or constants
    }
}
// clang-format on

}  // namespace fabricvp::riscv
