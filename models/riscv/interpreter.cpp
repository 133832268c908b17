// SPDX-License-Identifier: Apache-2.0
// The dispatch loop. Each row of the instruction table becomes one handler: EXECUTE_<format>(name) fetches operands,
// calls semantics::name and jumps to the next operation's handler (threaded code). Control leaves a block only at its
// last operation, or through a label below when an instruction faults or must wait; costs and counts of a whole block
// are charged when it is entered and corrected on such an exit.
#include <cstring>

#include "riscv/float_semantics.h"
#include "riscv/hart_core.h"
#include "riscv/internal_ops.h"

namespace fabricvp::riscv {

namespace {
using u64 = std::uint64_t;
using i64 = std::int64_t;
namespace sem = semantics;

template <class T>
inline constexpr u64 tag_mask = ~u64{0xfff} | (sizeof(T) - 1);

template <class T>
inline T load_host(u64 address) {
    T v;
    std::memcpy(&v, reinterpret_cast<const void*>(address), sizeof v);
    return v;
}
template <class T>
inline void store_host(u64 address, T v) {
    std::memcpy(reinterpret_cast<void*>(address), &v, sizeof v);
}
}  // namespace

// clang-format off
#define LIKELY(c) __builtin_expect(!!(c), 1)
#define UNLIKELY(c) __builtin_expect(!!(c), 0)

#define X1 x[o->rs1]
#define X2 x[o->rs2]
#define XD x[o->rd]
#define IMMEDIATE static_cast<u64>(static_cast<i64>(o->immediate))
#define NEXT            \
    do {                \
        ++o;            \
        goto* o->handler; \
    } while (0)
#define ENTER                                   \
    do {                                        \
        if (UNLIKELY(budget <= 0)) goto out_of_budget; \
        budget -= b->cost;                      \
        retired += b->instructions;             \
        o = b->ops();                           \
        goto* o->handler;                       \
    } while (0)
#define FOLLOW(n)                               \
    do {                                        \
        link = &b->links[n];                    \
        if (LIKELY(link->context == context)) { \
            b = link->target;                   \
            ENTER;                              \
        }                                       \
        goto find;                              \
    } while (0)
#define LOOK_UP                                                                         \
    do {                                                                                \
        const auto& entry = m->jump_cache[pc >> 1 & (implementation::jump_entries - 1)]; \
        if (LIKELY(entry.pc == pc && entry.context == context)) {                       \
            b = entry.target;                                                           \
            ENTER;                                                                      \
        }                                                                               \
        link = nullptr;                                                                 \
        goto find;                                                                      \
    } while (0)
/// An access that missed the TLB: `target` takes its value if it completed.
#define SLOW(target, call)                               \
    do {                                                 \
        m->budget = budget;                              \
        const auto result = (call);                      \
        if (UNLIKELY(!result.complete())) goto leave;    \
        budget -= result.cost;                           \
        target = result.value;                           \
    } while (0)
#define SLOW_STORE(call)                                 \
    do {                                                 \
        m->budget = budget;                              \
        const auto result = (call);                      \
        if (UNLIKELY(!result.complete())) goto leave;    \
        budget -= result.cost;                           \
    } while (0)

#define LABEL(name) op_##name:

#define EXECUTE_nothing(name) LABEL(name) { NEXT; }
#define EXECUTE_upper(name) LABEL(name) { XD = IMMEDIATE; NEXT; }
#define EXECUTE_upper_pc(name) LABEL(name) { XD = pc + IMMEDIATE; NEXT; }
#define EXECUTE_register_register(name) LABEL(name) { XD = sem::name(X1, X2); NEXT; }
#define EXECUTE_register_immediate(name) LABEL(name) { XD = sem::name(X1, IMMEDIATE); NEXT; }
#define EXECUTE_register_shift(name) LABEL(name) { \
    XD = sem::name(X1, static_cast<u64>(static_cast<std::uint32_t>(o->immediate))); NEXT; }
#define EXECUTE_register_only(name) LABEL(name) { XD = sem::name(X1); NEXT; }
#define EXECUTE_jump(name)       \
    LABEL(name) {                \
        XD = pc + b->length;     \
        pc += IMMEDIATE;         \
        FOLLOW(0);               \
    }
#define EXECUTE_jump_register(name)                        \
    LABEL(name) {                                          \
        const u64 target = (X1 + IMMEDIATE) & ~u64{1};     \
        XD = pc + b->length;                               \
        pc = target;                                       \
        LOOK_UP;                                           \
    }
#define EXECUTE_branch(name)                               \
    LABEL(name) {                                          \
        if (sem::name(X1, X2)) {                           \
            pc += IMMEDIATE;                               \
            FOLLOW(0);                                     \
        }                                                  \
        pc += b->length;                                   \
        FOLLOW(1);                                         \
    }
#define EXECUTE_load(name)                                                                        \
    LABEL(name) {                                                                                 \
        using type = sem::name##_type;                                                            \
        const u64 address = X1 + IMMEDIATE;                                                       \
        const auto& entry = view->read[tlb_set::index(address)];                                  \
        if (LIKELY(entry.tag == (address & tag_mask<type>)))                                      \
            XD = static_cast<u64>(static_cast<i64>(load_host<type>(address + entry.addend)));     \
        else                                                                                      \
            SLOW(XD, m->load_slow(address, sizeof(type), opcode::name, o->rd));                   \
        NEXT;                                                                                     \
    }
#define EXECUTE_store(name)                                                                       \
    LABEL(name) {                                                                                 \
        using type = sem::name##_type;                                                            \
        const u64 address = X1 + IMMEDIATE;                                                       \
        const auto& entry = view->write[tlb_set::index(address)];                                 \
        if (LIKELY(entry.tag == (address & tag_mask<type>)))                                      \
            store_host(address + entry.addend, static_cast<type>(X2));                            \
        else                                                                                      \
            SLOW_STORE(m->store_slow(address, sizeof(type), X2, opcode::name));                   \
        NEXT;                                                                                     \
    }
#define EXECUTE_atomic(name)                                                                      \
    LABEL(name) {                                                                                 \
        using type = sem::name##_type;                                                            \
        const u64 address = X1;                                                                   \
        const auto& entry = view->write[tlb_set::index(address)];                                 \
        if (LIKELY(entry.tag == (address & tag_mask<type>))) {                                    \
            const auto old = load_host<type>(address + entry.addend);                             \
            store_host(address + entry.addend, sem::name(static_cast<std::make_unsigned_t<type>>(old), \
                                                         static_cast<std::make_unsigned_t<type>>(X2))); \
            XD = static_cast<u64>(static_cast<i64>(old));                                         \
        } else {                                                                                  \
            SLOW(XD, m->atomic_slow(address, sizeof(type), X2, sem::name##_operation, opcode::name, o->rd)); \
        }                                                                                         \
        NEXT;                                                                                     \
    }
#define EXECUTE_load_reserved(name) \
    LABEL(name) {                   \
        SLOW(XD, m->load_reserved_slow(X1, sizeof(sem::name##_type), opcode::name, o->rd)); \
        NEXT;                       \
    }
#define EXECUTE_store_conditional(name) \
    LABEL(name) {                       \
        SLOW(XD, m->store_conditional_slow(X1, sizeof(sem::name##_type), X2, opcode::name, o->rd)); \
        NEXT;                           \
    }
/// CSR and system instructions see exact counts and time, and may change everything.
#define BEFORE_SYSTEM                                                      \
    const auto& position = b->positions()[o - b->ops()];                   \
    m->budget = budget + b->cost - position.cost;                          \
    m->retired = retired - (b->instructions - position.instructions);      \
    m->current_bits = position.bits;
#define EXECUTE_csr(name)                                                               \
    LABEL(name) {                                                                       \
        BEFORE_SYSTEM                                                                   \
        if (!m->execute_csr(opcode::name, static_cast<unsigned>(o->immediate), o->rs1, o->rd)) goto leave; \
        pc += b->length;                                                                \
        goto after_system;                                                              \
    }
#define EXECUTE_system(name)                                                            \
    LABEL(name) {                                                                       \
        BEFORE_SYSTEM                                                                   \
        if (!m->execute_system(opcode::name, *o, pc + position.offset, pc + b->length)) goto leave; \
        pc = m->state.pc;                                                               \
        goto after_system;                                                              \
    }

/// Never decoded for a hart.
#define EXECUTE_lane(name) LABEL(name) { goto op_illegal; }

#define DIRTY m->state.mstatus |= status::fs
#define FRM m->state.frm
#define FLAGS m->state.fflags
#define NO_ROUNDING_MODE goto op_illegal
#define FLOAT(name, prologue, statement) LABEL(name) { prologue DIRTY; statement; NEXT; }
#define READS_FLOAT(name, statement) LABEL(name) { statement; NEXT; }
#include "riscv/float_formats.h"
#define EXECUTE_float_load(name)                                                                  \
    LABEL(name) {                                                                                 \
        using type = sem::name##_type;                                                            \
        const u64 address = X1 + IMMEDIATE;                                                       \
        const auto& entry = view->read[tlb_set::index(address)];                                  \
        u64 value;                                                                                \
        if (LIKELY(entry.tag == (address & tag_mask<type>)))                                      \
            value = load_host<type>(address + entry.addend);                                      \
        else                                                                                      \
            SLOW(value, m->load_slow(address, sizeof(type), opcode::name, o->rd));                \
        DIRTY;                                                                                    \
        f[o->rd] = sizeof(type) == 4 ? fpu::box_s(static_cast<std::uint32_t>(value)) : value;     \
        NEXT;                                                                                     \
    }
#define EXECUTE_float_store(name)                                                                 \
    LABEL(name) {                                                                                 \
        using type = sem::name##_type;                                                            \
        const u64 address = X1 + IMMEDIATE;                                                       \
        const auto& entry = view->write[tlb_set::index(address)];                                 \
        if (LIKELY(entry.tag == (address & tag_mask<type>)))                                      \
            store_host(address + entry.addend, static_cast<type>(f[o->rs2]));                           \
        else                                                                                      \
            SLOW_STORE(m->store_slow(address, sizeof(type), static_cast<type>(f[o->rs2]), opcode::name)); \
        NEXT;                                                                                     \
    }
// clang-format on

void hart::implementation::interpret(implementation* m, const void* const** labels) {
    static const void* const table[] = {
        &&op_illegal,
#define FABRICVP_ROW(name, text, match, mask, format, timing) &&op_##name,
        FABRICVP_RISCV_INSTRUCTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW
            && op_block_end,
        &&op_bus_fence,
        &&op_code_lines,
        &&op_tell_block,
        &&op_count_entry,
        &&op_translated,
        &&op_not_translated,
    };
    if (labels) {
        *labels = table;
        return;
    }

    u64* const x = m->state.x.data();
    u64* const f = m->state.f.data();
    u64 pc = m->state.pc;
    u64 context = m->context;
    i64 budget = m->budget;
    u64 retired = m->retired;
    tlb_set* view = &m->memory.data_view();
    block* b = nullptr;
    block* source = nullptr;
    block_link* link = nullptr;
    const block_op* o = nullptr;
    LOOK_UP;

#define FABRICVP_ROW(name, text, match, mask, format, timing) EXECUTE_##format(name)
    FABRICVP_RISCV_INSTRUCTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW

    LABEL(block_end) {
        pc += IMMEDIATE;
        FOLLOW(0);
    }

    LABEL(bus_fence) {
        SLOW_STORE(m->fence_slow(opcode::fence));
        NEXT;
    }

    LABEL(code_lines) {
        if (UNLIKELY(b->fetched != m->code_cache->generation())) budget -= m->fetch_lines(*b);
        NEXT;
    }

    LABEL(tell_block) {
        m->budget = budget;
        m->tell_entered(*b, static_cast<std::uint32_t>(o->immediate), pc);
        NEXT;
    }

    LABEL(count_entry) {
        auto& first = b->ops()[0];
        if (LIKELY(--first.immediate > 0)) NEXT;
        if (m->code_translator->translate(*b, m->blocks.translated)) {
            first.handler = &&op_translated;
            ++m->owner.translated_blocks;
        } else {
            first.handler = &&op_not_translated;
        }
        goto* first.handler;
    }

    LABEL(not_translated) { NEXT; }

    LABEL(translated) {
        translated_frame frame{x, view, budget, retired, pc, context, nullptr};
        o = m->code_translator->run(frame, b->body);
        budget = frame.budget;
        retired = frame.retired;
        pc = frame.pc;
        if (UNLIKELY(!o)) goto out_of_budget;
        b = frame.current;
        goto * o->handler;
    }

    LABEL(illegal) {
        m->illegal(b->positions()[o - b->ops()].bits);
        goto leave;
    }

find:
    if (link && link->code_context == m->code_context) {
        link->context = context;
        b = link->target;
        ENTER;
    }
    source = b;
    m->budget = budget;
    m->retired = retired;
    b = m->find_block(pc, link);
    budget = m->budget;
    if (UNLIKELY(!b)) {
        if (m->exit == exit_reason::stopped) goto finish;
        m->take_trap(m->fault_cause, m->fault_value, pc);
        budget = m->budget;
        pc = m->state.pc;
        context = m->context;
        view = &m->memory.data_view();
        if (budget <= 0) goto out_of_budget;
        LOOK_UP;
    }
    if (link) {
        const i64 distance = link == &source->links[0] ? o->immediate : static_cast<i64>(source->length);
        const auto in_page = static_cast<i64>(reinterpret_cast<u64>(source->host) & 0xfff) + distance;
        const u64 far = static_cast<u64>(in_page) < 0x1000 && !b->second_page ? 0 : block_link::far;
        *link = {m->context, m->code_context | far, b};
    }
    context = m->context;
    ENTER;

after_system:
    m->state.pc = pc;
    budget = m->budget - (b->cost - b->positions()[o - b->ops()].cost);
    retired = m->retired + 1;
    if (UNLIKELY(m->m_end_slice)) goto finish;
    {
        const int code = m->state.interrupt_to_take();
        if (UNLIKELY(code >= 0)) {
            m->take_interrupt(static_cast<unsigned>(code));
            pc = m->state.pc;
        }
    }
    context = m->context;
    view = &m->memory.data_view();
    LOOK_UP;

leave : {
    // The instruction at `o` did not complete (or, for resync, completed and invalidated code).
    const auto* position = &b->positions()[o - b->ops()];
    if (m->exit == exit_reason::resync) ++position;
    budget += b->cost - position->cost;
    retired -= b->instructions - position->instructions;
    if (UNLIKELY(m->probe != nullptr))  // an access that goes through the calendar completes there
        m->tell_left(*b, position->instructions + (m->exit == exit_reason::pending ? 1u : 0u));
    pc += position->offset;
    context = m->context;
    if (m->exit == exit_reason::fault) {
        m->budget = budget;
        m->retired = retired;
        m->take_trap(m->fault_cause, m->fault_value, pc);
        budget = m->budget;
        pc = m->state.pc;
        context = m->context;
        view = &m->memory.data_view();
        if (budget <= 0) goto out_of_budget;
        LOOK_UP;
    }
    if (m->exit == exit_reason::resync) {
        if (budget <= 0) goto out_of_budget;
        LOOK_UP;
    }
    if (m->exit == exit_reason::pending) {
        m->m_access.bits = position->bits;
        m->m_access.length = (position->bits & 3) == 3 ? 4 : 2;
    }
    goto finish;
}

out_of_budget:
    m->exit = exit_reason::budget;
finish:
    m->state.pc = pc;
    m->budget = budget;
    m->retired = retired;
}

}  // namespace fabricvp::riscv
