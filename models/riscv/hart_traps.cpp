// SPDX-License-Identifier: Apache-2.0
// Traps and returns, CSR instructions, system instructions (privileged specification 3.1, 3.3, 4.1).
#include <utility>

#include "base/log.h"
#include "riscv/hart_core.h"

namespace fabricvp::riscv {

namespace {
const char* text_of(cause c) {
    switch (c) {
        case cause::instruction_misaligned: return "instruction address misaligned";
        case cause::instruction_access: return "instruction access fault";
        case cause::illegal_instruction: return "illegal instruction";
        case cause::breakpoint: return "breakpoint";
        case cause::load_misaligned: return "load address misaligned";
        case cause::load_access: return "load access fault";
        case cause::store_misaligned: return "store address misaligned";
        case cause::store_access: return "store access fault";
        case cause::ecall_user:
        case cause::ecall_supervisor:
        case cause::ecall_machine: return "environment call";
        case cause::instruction_page: return "instruction page fault";
        case cause::load_page: return "load page fault";
        case cause::store_page: return "store page fault";
    }
    return "exception";
}
}  // namespace

void hart::implementation::enter_handler(std::uint64_t code, bool interrupt, std::uint64_t value, std::uint64_t pc) {
    const auto delegated = interrupt ? state.mideleg : state.medeleg;
    const bool to_supervisor = state.mode != privilege::machine && (delegated >> code & 1);
    const auto cause_value = code | (interrupt ? std::uint64_t{1} << 63 : 0);
    const auto previous = static_cast<std::uint64_t>(state.mode);
    auto& s = state.mstatus;
    std::uint64_t vector;
    if (to_supervisor) {
        state.scause = cause_value;
        state.sepc = pc;
        state.stval = value;
        s = (s & ~(status::spie | status::spp)) | (s & status::sie ? status::spie : 0) | (previous ? status::spp : 0);
        s &= ~status::sie;
        state.mode = privilege::supervisor;
        vector = state.stvec;
    } else {
        state.mcause = cause_value;
        state.mepc = pc;
        state.mtval = value;
        s = (s & ~(status::mpie | status::mpp)) | (s & status::mie ? status::mpie : 0) | previous << status::mpp_shift;
        s &= ~status::mie;
        state.mode = privilege::machine;
        vector = state.mtvec;
    }
    state.pc = (vector & ~std::uint64_t{3}) + (interrupt && (vector & 1) ? 4 * code : 0);
    // A trap takes time, so that a handler that cannot be fetched does not stop the clock.
    budget -= costs[static_cast<unsigned>(timing_class::csr)] + 1;
    update_context();
}

void hart::implementation::take_trap(cause c, std::uint64_t value, std::uint64_t pc) {
    const auto mode = state.mode;
    const auto status = state.mstatus;
    ++owner.traps;
    enter_handler(static_cast<std::uint64_t>(c), false, value, pc);
    if (state.pc == pc && state.mode == mode && state.mstatus == status) comes_again(c);
}

/// An exception at the first instruction of its handler leaves the hart as it found it, so it comes until an interrupt
/// or a reset ends that: a program that has jumped into nothing would take minutes for a simulated second. Once two
/// that follow each other took the same time, the others of the slice are counted.
void hart::implementation::comes_again(cause c) {
    if (m_endless.warns && !std::exchange(m_endless.told, true))
        log(log_level::warning, owner,
            "{} at pc {:#x}, where the handler of exceptions begins ({}): it comes again without end", text_of(c),
            state.pc, state.mode == privilege::machine ? "mtvec" : "stvec");
    const auto cost = m_endless.retired == retired_count() ? m_endless.budget - budget : 0;
    // A probe is told of each, a debugger may stop at one, and an instruction cache counts what it looks up.
    const bool counts = !probe && !m_debugging && m_in_slice && (!code_cache || c == cause::instruction_access);
    if (counts && cost > 0 && cost == m_endless.cost && budget > 0) {
        const auto more = (budget + cost - 1) / cost;
        owner.traps += static_cast<std::uint64_t>(more);
        owner.counted_exceptions += static_cast<std::uint64_t>(more);
        budget -= more * cost;
    }
    m_endless.retired = retired_count();
    m_endless.budget = budget;
    m_endless.cost = cost;
}

void hart::implementation::take_interrupt(unsigned code) {
    ++owner.interrupts;
    enter_handler(code, true, 0, state.pc);
}

bool hart::implementation::illegal(std::uint32_t bits) { return fault(cause::illegal_instruction, bits).complete(); }

bool hart::implementation::execute_csr(opcode op, unsigned number, unsigned rs1, unsigned rd) {
    const bool immediate = op == opcode::csrrwi || op == opcode::csrrsi || op == opcode::csrrci;
    const bool replaces = op == opcode::csrrw || op == opcode::csrrwi;
    const bool sets = op == opcode::csrrs || op == opcode::csrrsi;
    const bool writes = replaces || rs1 != 0;
    if (!csrs.may_access(number, writes)) return illegal(current_bits);
    const auto operand = immediate ? rs1 : state.x[rs1];
    std::uint64_t old = 0;
    const bool reads = !replaces || rd != hart_state::sink;
    if (reads && !csrs.read(number, old)) return illegal(current_bits);
    if (writes) {
        const auto base = csrs.value_to_modify(number, old);
        const auto value = replaces ? operand : sets ? base | operand : base & ~operand;
        if (!csrs.write(number, value)) return illegal(current_bits);
    }
    state.x[rd] = old;
    return true;
}

bool hart::implementation::return_from_trap(privilege from) {
    auto& s = state.mstatus;
    if (from == privilege::machine) {
        if (state.mode != privilege::machine) return illegal(current_bits);
        const auto to = static_cast<privilege>(s >> status::mpp_shift & 3);
        s = (s & ~status::mie) | (s & status::mpie ? status::mie : 0) | status::mpie;
        if (owner.params.supervisor) s &= ~status::mpp;
        if (to != privilege::machine) s &= ~status::mprv;
        state.mode = to;
        state.pc = state.mepc;
    } else {
        if (state.mode == privilege::user || (state.mode == privilege::supervisor && (s & status::tsr)))
            return illegal(current_bits);
        const auto to = s & status::spp ? privilege::supervisor : privilege::user;
        s = (s & ~(status::sie | status::spp | status::mprv)) | (s & status::spie ? status::sie : 0) | status::spie;
        state.mode = to;
        state.pc = state.sepc;
    }
    update_context();
    return true;
}

bool hart::implementation::execute_system(opcode op, const block_op& o, std::uint64_t pc, std::uint64_t next_pc) {
    state.pc = next_pc;
    switch (op) {
        case opcode::ecall:
            return fault(
                       static_cast<cause>(static_cast<unsigned>(cause::ecall_user) + static_cast<unsigned>(state.mode)),
                       0)
                .complete();
        case opcode::ebreak: return fault(cause::breakpoint, 0).complete();
        case opcode::mret: return return_from_trap(privilege::machine);
        case opcode::sret: return return_from_trap(privilege::supervisor);
        case opcode::wfi: {
            if (owner.params.supervisor && (state.mode == privilege::user ||
                                            (state.mode == privilege::supervisor && (state.mstatus & status::tw))))
                return illegal(current_bits);
            if (state.mip() & state.mie) return true;
            if (m_debugging && m_stepping) return true;  // a step over wfi is a step
            m_end_slice = true;
            exit = exit_reason::waiting;
            return true;
        }
        case opcode::pause:
            m_end_slice = m_paused = true;
            exit = exit_reason::budget;
            return true;
        case opcode::fence_i: update_context(); return !order_on_bus || fence_slow(op).complete();
        case opcode::sfence_vma: {
            if (state.mode == privilege::user || (state.mode == privilege::supervisor && (state.mstatus & status::tvm)))
                return illegal(current_bits);
            if (o.rs1 == 0)
                memory.flush();
            else
                memory.flush_page(state.x[o.rs1]);
            translation_epoch();
            return true;
        }
        default: return illegal(current_bits);
    }
}

}  // namespace fabricvp::riscv
