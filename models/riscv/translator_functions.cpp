// SPDX-License-Identifier: Apache-2.0
#include "riscv/translator_functions.h"

#include <cstring>
#include <type_traits>

#include "riscv/float_semantics.h"
#include "riscv/semantics.h"

namespace fabricvp::riscv {

using u64 = std::uint64_t;
using i64 = std::int64_t;

#define FABRICVP_ROW(name, text, match, mask, format, timing) EXECUTE_##format(name)

integer_function integer_function_of(opcode op) {
#define EXECUTE_register_register(name) \
    case opcode::name:                  \
        return [](u64 a, u64 b) -> u64 { return semantics::name(a, b); };
#define EXECUTE_register_immediate(name) EXECUTE_register_register(name)
#define EXECUTE_register_shift(name) EXECUTE_register_register(name)
#define EXECUTE_register_only(name) \
    case opcode::name:              \
        return [](u64 a, u64) -> u64 { return semantics::name(a); };
#define EXECUTE_nothing(name)
#define EXECUTE_upper(name)
#define EXECUTE_upper_pc(name)
#define EXECUTE_jump(name)
#define EXECUTE_jump_register(name)
#define EXECUTE_branch(name)
#define EXECUTE_load(name)
#define EXECUTE_store(name)
#define EXECUTE_system(name)
#define EXECUTE_csr(name)
    switch (op) {
        FABRICVP_RISCV_BASE_INSTRUCTIONS(FABRICVP_ROW)
        FABRICVP_RISCV_MULTIPLY_INSTRUCTIONS(FABRICVP_ROW)
        FABRICVP_RISCV_BIT_INSTRUCTIONS(FABRICVP_ROW)
        default: return nullptr;
    }
}

atomic_function atomic_function_of(opcode op) {
#define EXECUTE_load_reserved(name)
#define EXECUTE_store_conditional(name)
#define EXECUTE_atomic(name)                                                                      \
    case opcode::name:                                                                            \
        return [](u64 address, u64 operand) -> u64 {                                              \
            using type = semantics::name##_type;                                                  \
            using bits = std::make_unsigned_t<type>;                                              \
            bits old;                                                                             \
            std::memcpy(&old, reinterpret_cast<const void*>(address), sizeof old);                \
            const bits now = static_cast<bits>(semantics::name(old, static_cast<bits>(operand))); \
            std::memcpy(reinterpret_cast<void*>(address), &now, sizeof now);                      \
            return static_cast<u64>(i64{static_cast<type>(old)});                                 \
        };
    switch (op) {
        FABRICVP_RISCV_ATOMIC_INSTRUCTIONS(FABRICVP_ROW)
        default: return nullptr;
    }
}

float_function float_function_of(opcode op) {
#define FRM s.frm
#define FLAGS s.fflags
#define NO_ROUNDING_MODE return false
#define FLOAT(name, prologue, statement)                      \
    case opcode::name:                                        \
        return [](hart_state& s, const block_op* o) -> bool { \
            [[maybe_unused]] auto* const x = s.x.data();      \
            [[maybe_unused]] auto* const f = s.f.data();      \
            prologue statement;                               \
            return true;                                      \
        };
#define READS_FLOAT(name, statement) FLOAT(name, , statement)
#include "riscv/float_formats.h"
#define EXECUTE_float_load(name)
#define EXECUTE_float_store(name)
    switch (op) {
        FABRICVP_RISCV_FLOAT_INSTRUCTIONS(FABRICVP_ROW)
        default: return nullptr;
    }
}

}  // namespace fabricvp::riscv
