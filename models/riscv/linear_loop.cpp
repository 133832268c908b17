// SPDX-License-Identifier: Apache-2.0
#include "riscv/linear_loop.h"

#include <algorithm>
#include <limits>

#include "riscv/semantics.h"

namespace fabricvp::riscv {

namespace {
using u64 = std::uint64_t;
using i64 = std::int64_t;
namespace sem = semantics;

constexpr unsigned longest = 60;         // instructions of a round; blocks have no border in as many
constexpr i64 safe = i64{1} << 62;       // sums and differences of values within do not overflow
constexpr u64 unlimited = u64{1} << 40;  // rounds

/// value + k * step, modulo 2^64.
struct linear {
    u64 value = 0, step = 0;
    bool constant() const { return step == 0; }
};

struct followed {
    instruction i;
    u64 pc = 0;
};

class walk {
public:
    walk(const u64* x, const std::array<u64, 32>& step) {
        for (unsigned r = 1; r < 32; ++r) m_x[r] = {x[r], step[r]};
    }

    /// \returns false if it is not understood
    bool perform(const followed& f, u64& next);
    const linear& reg(unsigned r) const { return m_x[r]; }
    u64 rounds() const { return m_rounds; }

private:
    void set(unsigned rd, linear v) {
        if (rd) m_x[rd] = v;
    }
    bool keep_within(const linear& v, i64 low, i64 high);
    bool word(unsigned rd, linear v);
    bool branch(opcode op, linear a, linear b, bool& taken);
    bool compute(const instruction& i);

    std::array<linear, 32> m_x{};
    u64 m_rounds = unlimited;
};

/// Ends what is certain where `v` leaves the range.
bool walk::keep_within(const linear& v, i64 low, i64 high) {
    const auto at = static_cast<i64>(v.value), step = static_cast<i64>(v.step);
    if (at < low || at > high || step < -safe || step > safe) return false;
    if (step > 0) m_rounds = std::min(m_rounds, static_cast<u64>((high - at) / step) + 1);
    if (step < 0) m_rounds = std::min(m_rounds, static_cast<u64>((at - low) / -step) + 1);
    return true;
}

/// A 32-bit result, of which `v` is the sum before it is extended.
bool walk::word(unsigned rd, linear v) {
    v.value = sem::sext32(v.value);
    set(rd, v);
    return keep_within(v, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
}

bool walk::branch(opcode op, linear a, linear b, bool& taken) {
    switch (op) {
        case opcode::beq: taken = sem::beq(a.value, b.value); break;
        case opcode::bne: taken = sem::bne(a.value, b.value); break;
        case opcode::blt: taken = sem::blt(a.value, b.value); break;
        case opcode::bge: taken = sem::bge(a.value, b.value); break;
        case opcode::bltu: taken = sem::bltu(a.value, b.value); break;
        case opcode::bgeu: taken = sem::bgeu(a.value, b.value); break;
        default: return false;
    }
    if (a.constant() && b.constant()) return true;
    const bool is_unsigned = op == opcode::bltu || op == opcode::bgeu;
    const i64 low = is_unsigned ? 0 : -(safe / 2), high = safe / 2;
    if (!keep_within(a, low, high) || !keep_within(b, low, high)) return false;
    const auto difference = static_cast<i64>(a.value - b.value), step = static_cast<i64>(a.step - b.step);
    if (step == 0) return true;
    if (op == opcode::beq || op == opcode::bne) {
        if (difference == 0)
            m_rounds = std::min<u64>(m_rounds, 1);
        else if (difference % step == 0 && (difference < 0) == (step > 0))
            m_rounds = std::min(m_rounds, static_cast<u64>(-(difference / step)));
    } else if (difference < 0 && step > 0) {
        m_rounds = std::min(m_rounds, static_cast<u64>((-difference - 1) / step) + 1);
    } else if (difference >= 0 && step < 0) {
        m_rounds = std::min(m_rounds, static_cast<u64>(difference / -step) + 1);
    }
    return true;
}

/// What the semantics say of constant operands.
bool evaluate(const instruction& i, u64 a, u64 b, u64& result) {
    const auto immediate = static_cast<u64>(static_cast<i64>(i.immediate));
    const auto amount = static_cast<u64>(static_cast<std::uint32_t>(i.immediate));
    switch (i.op) {
#define EVALUATE_register_register(name) \
    result = sem::name(a, b);            \
    return true;
#define EVALUATE_register_immediate(name) \
    result = sem::name(a, immediate);     \
    return true;
#define EVALUATE_register_shift(name) \
    result = sem::name(a, amount);    \
    return true;
#define EVALUATE_register_only(name) \
    result = sem::name(a);           \
    return true;
#define EVALUATE_none(name) return false;
#define EVALUATE_nothing(name) return false;
#define EVALUATE_upper(name) \
    result = immediate;      \
    return true;
#define EVALUATE_upper_pc(name) return false;
#define EVALUATE_jump(name) return false;
#define EVALUATE_jump_register(name) return false;
#define EVALUATE_branch(name) return false;
#define EVALUATE_load(name) return false;
#define EVALUATE_store(name) return false;
#define EVALUATE_system(name) return false;
#define EVALUATE_csr(name) return false;
#define EVALUATE_load_reserved(name) return false;
#define EVALUATE_store_conditional(name) return false;
#define EVALUATE_atomic(name) return false;
#define FABRICVP_ROW(name, text, match, mask, format, timing) \
    case opcode::name: EVALUATE_##format(name)
        FABRICVP_RISCV_INTEGER_INSTRUCTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW
        default: return false;
    }
}

bool walk::compute(const instruction& i) {
    const linear a = m_x[i.rs1], b = m_x[i.rs2];
    const auto immediate = static_cast<u64>(static_cast<i64>(i.immediate));
    switch (i.op) {
        case opcode::addi: set(i.rd, {a.value + immediate, a.step}); return true;
        case opcode::add: set(i.rd, {a.value + b.value, a.step + b.step}); return true;
        case opcode::sub: set(i.rd, {a.value - b.value, a.step - b.step}); return true;
        case opcode::addiw: return word(i.rd, {a.value + immediate, a.step});
        case opcode::addw: return word(i.rd, {a.value + b.value, a.step + b.step});
        case opcode::subw: return word(i.rd, {a.value - b.value, a.step - b.step});
        default: break;
    }
    const auto format = info(i.op).format;
    const bool uses_a = format != operand_format::upper, uses_b = format == operand_format::register_register;
    u64 result = 0;
    if ((uses_a && !a.constant()) || (uses_b && !b.constant()) || !evaluate(i, a.value, b.value, result)) return false;
    set(i.rd, {result, 0});
    return true;
}

bool walk::perform(const followed& f, u64& next) {
    const auto& i = f.i;
    const auto offset = static_cast<u64>(static_cast<i64>(i.immediate));
    next = f.pc + i.length;
    switch (info(i.op).format) {
        case operand_format::system: return true;  // the pause
        case operand_format::upper_pc: set(i.rd, {f.pc + offset, 0}); return true;
        case operand_format::jump:
            set(i.rd, {next, 0});
            next = f.pc + offset;
            return true;
        case operand_format::jump_register: {
            const auto base = m_x[i.rs1];
            if (!base.constant()) return false;
            set(i.rd, {next, 0});
            next = (base.value + offset) & ~u64{1};
            return true;
        }
        case operand_format::branch: {
            bool taken = false;
            if (!branch(i.op, m_x[i.rs1], m_x[i.rs2], taken)) return false;
            if (taken) next = f.pc + offset;
            return true;
        }
        default: return compute(i);
    }
}

loop_refusal refusal_of(const instruction& i) {
    switch (info(i.op).format) {
        case operand_format::register_immediate:
        case operand_format::register_shift:
        case operand_format::register_register:
        case operand_format::register_only:
        case operand_format::upper:
        case operand_format::upper_pc:
        case operand_format::jump:
        case operand_format::jump_register:
        case operand_format::branch: return loop_refusal::none;
        case operand_format::system: return i.op == opcode::pause ? loop_refusal::none : loop_refusal::system;
        case operand_format::load:
        case operand_format::store:
        case operand_format::atomic:
        case operand_format::load_reserved:
        case operand_format::store_conditional:
        case operand_format::nothing: return loop_refusal::memory;
        default: return loop_refusal::system;
    }
}
}  // namespace

linear_loop prove_linear(const u64* x, u64 start, const loop_fetch& fetch,
                         const std::array<std::uint32_t, static_cast<unsigned>(timing_class::count)>& costs) {
    linear_loop found;
    const auto refuse = [&](loop_refusal why) {
        found.refusal = why;
        return found;
    };
    // What a round does from these registers tells the steps; that others do the same is then to be shown.
    walk once(x, {});
    std::array<followed, longest> path;
    unsigned count = 0;
    u64 pc = start;
    for (bool starts = true;; ++count) {
        if (count == longest) return refuse(loop_refusal::too_long);
        auto& f = path[count];
        f.pc = pc;
        if (!fetch(pc, starts, f.i)) return refuse(loop_refusal::code);
        if (const auto why = refusal_of(f.i); why != loop_refusal::none) return refuse(why);
        if (!once.perform(f, pc)) return refuse(loop_refusal::counters);
        starts = ends_block(f.i.op);
        found.cost += costs[static_cast<unsigned>(info(f.i.op).timing)];
        if (f.i.op == opcode::pause) break;
    }
    if (pc != start) return refuse(loop_refusal::counters);
    found.instructions = count + 1;
    for (unsigned r = 1; r < 32; ++r) found.step[r] = once.reg(r).value - x[r];
    walk each(x, found.step);
    for (unsigned n = 0; n <= count; ++n) {
        u64 next = 0;
        if (!each.perform(path[n], next) || next != (n < count ? path[n + 1].pc : start))
            return refuse(loop_refusal::counters);
    }
    for (unsigned r = 1; r < 32; ++r)
        if (each.reg(r).value != x[r] + found.step[r] || each.reg(r).step != found.step[r])
            return refuse(loop_refusal::counters);
    found.rounds = each.rounds();
    return found;
}

}  // namespace fabricvp::riscv
