// SPDX-License-Identifier: Apache-2.0
#include "riscv/linear_walk.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "riscv/semantics.h"

namespace fabricvp::riscv {

namespace {
using u64 = std::uint64_t;
using i64 = std::int64_t;
namespace sem = semantics;

constexpr i64 safe = i64{1} << 62;       // sums and differences of values within do not overflow
constexpr u64 unlimited = u64{1} << 40;  // rounds

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

/// What memory is accessed by: bytes, and whether a load is extended with its sign.
struct width {
    unsigned size;
    bool is_signed;
};

width width_of(opcode op) {
    switch (op) {
        case opcode::lb: return {1, true};
        case opcode::lbu:
        case opcode::sb: return {1, false};
        case opcode::lh: return {2, true};
        case opcode::lhu:
        case opcode::sh: return {2, false};
        case opcode::lw: return {4, true};
        case opcode::lwu:
        case opcode::sw: return {4, false};
        default: return {8, false};
    }
}

u64 truncated(u64 value, unsigned size) { return size == 8 ? value : value & ((u64{1} << 8 * size) - 1); }
}  // namespace

linear_walk::linear_walk(const std::array<linear, 32>& x, std::vector<cell> cells, loop_memory* memory)
    : m_x(x), m_cells(std::move(cells)), m_memory(memory), m_rounds(unlimited) {}

/// Ends what is certain where `v` leaves the range.
bool linear_walk::keep_within(const linear& v, i64 low, i64 high) {
    const auto at = static_cast<i64>(v.value), step = static_cast<i64>(v.step);
    if (at < low || at > high || step < -safe || step > safe) return false;
    if (step > 0) m_rounds = std::min(m_rounds, static_cast<u64>((high - at) / step) + 1);
    if (step < 0) m_rounds = std::min(m_rounds, static_cast<u64>((at - low) / -step) + 1);
    return true;
}

/// A 32-bit result, of which `v` is the sum before it is extended.
bool linear_walk::word(unsigned rd, linear v) {
    v.value = sem::sext32(v.value);
    set(rd, v);
    return keep_within(v, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
}

bool linear_walk::branch(opcode op, linear a, linear b, bool& taken) {
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

bool linear_walk::compute(const instruction& i) {
    const linear a = m_x[i.rs1], b = m_x[i.rs2];
    const auto immediate = static_cast<u64>(static_cast<i64>(i.immediate));
    switch (i.op) {
        case opcode::addi: set(i.rd, {a.value + immediate, a.step}); return true;
        case opcode::add: set(i.rd, {a.value + b.value, a.step + b.step}); return true;
        case opcode::sub: set(i.rd, {a.value - b.value, a.step - b.step}); return true;
        case opcode::andi:  // with low ones, of a counter: it counts on until that wraps
            if (a.constant() || i.immediate <= 0 || (i.immediate & (i.immediate + 1))) break;
            set(i.rd, {a.value & immediate, a.step});
            return keep_within({a.value & immediate, a.step}, 0, i.immediate);
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

/// The word that an access reaches; what overlaps in another way is not understood.
loop_refusal linear_walk::find(followed& f, bool writes, cell*& found) {
    for (auto& c : m_cells) {
        if (f.address >= c.address + c.size || c.address >= f.address + f.size) continue;
        if (c.address != f.address || c.size != f.size) return loop_refusal::memory;
        found = &c;
    }
    if (m_memory) {
        const auto seen = m_memory->look(f.address, f.size, writes);
        if (!seen.host) return loop_refusal::memory;
        f.host = seen.host;
        f.on_calendar = seen.on_calendar;
        if (!found) {
            u64 value = 0;
            std::memcpy(&value, seen.host, f.size);
            m_cells.push_back({f.address, f.size, seen.on_calendar, seen.host, {value, 0}, {value, 0}});
            found = &m_cells.back();
        }
    }
    return found ? loop_refusal::none : loop_refusal::memory;
}

loop_refusal linear_walk::access(followed& f, bool writes) {
    const auto base = m_x[f.i.rs1];
    if (!base.constant()) return loop_refusal::counters;
    const auto w = width_of(f.i.op);
    f.address = base.value + static_cast<u64>(static_cast<i64>(f.i.immediate));
    f.size = w.size;
    f.writes = writes;
    cell* c = nullptr;
    if (const auto why = find(f, writes, c); why != loop_refusal::none) return why;
    if (writes) {
        f.stored = m_x[f.i.rs2];
        if (w.size != 8 && !f.stored.constant()) return loop_refusal::counters;
        f.stored.value = truncated(f.stored.value, w.size);
        c->now = f.stored;
        return loop_refusal::none;
    }
    auto v = c->now;
    const auto unused = 64 - 8 * w.size;
    if (w.is_signed) v.value = static_cast<u64>(static_cast<i64>(v.value << unused) >> unused);
    set(f.i.rd, v);
    return loop_refusal::none;
}

loop_refusal linear_walk::perform(followed& f, u64& next) {
    const auto& i = f.i;
    const auto offset = static_cast<u64>(static_cast<i64>(i.immediate));
    next = f.pc + i.length;
    switch (info(i.op).format) {
        case operand_format::system: return loop_refusal::none;   // the pause
        case operand_format::nothing: return loop_refusal::none;  // a fence
        case operand_format::load: return access(f, false);
        case operand_format::store: return access(f, true);
        case operand_format::upper_pc: set(i.rd, {f.pc + offset, 0}); return loop_refusal::none;
        case operand_format::jump:
            set(i.rd, {next, 0});
            next = f.pc + offset;
            return loop_refusal::none;
        case operand_format::jump_register: {
            const auto base = m_x[i.rs1];
            if (!base.constant()) return loop_refusal::counters;
            set(i.rd, {next, 0});
            next = (base.value + offset) & ~u64{1};
            return loop_refusal::none;
        }
        case operand_format::branch: {
            bool taken = false;
            if (!branch(i.op, m_x[i.rs1], m_x[i.rs2], taken)) return loop_refusal::counters;
            if (taken) next = f.pc + offset;
            return loop_refusal::none;
        }
        default: return compute(i) ? loop_refusal::none : loop_refusal::counters;
    }
}

loop_refusal refusal_of(const instruction& i, bool memory) {
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
        case operand_format::load:
        case operand_format::store:
        case operand_format::nothing: return memory ? loop_refusal::none : loop_refusal::memory;
        case operand_format::system: return i.op == opcode::pause ? loop_refusal::none : loop_refusal::system;
        case operand_format::atomic:
        case operand_format::load_reserved:
        case operand_format::store_conditional: return loop_refusal::memory;
        default: return loop_refusal::system;
    }
}

}  // namespace fabricvp::riscv
