// SPDX-License-Identifier: Apache-2.0
// What integer instructions compute: pure functions of register values, named as in instruction_table.h. They know no
// register file, no memory and no trap, so that a hart and a 64-lane wavefront can share them.
#pragma once

#include <cstdint>

namespace fabricvp::riscv::semantics {

using u64 = std::uint64_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;

constexpr u64 sext32(u64 v) { return static_cast<u64>(static_cast<i64>(static_cast<i32>(v))); }

#define FABRICVP_BINARY(name, expression) \
    constexpr u64 name(u64 a, u64 b) { return expression; }
#define FABRICVP_UNARY(name, expression) \
    constexpr u64 name(u64 a) { return expression; }
#define FABRICVP_COMPARE(name, expression) \
    constexpr bool name(u64 a, u64 b) { return expression; }

FABRICVP_COMPARE(beq, a == b)
FABRICVP_COMPARE(bne, a != b)
FABRICVP_COMPARE(blt, static_cast<i64>(a) < static_cast<i64>(b))
FABRICVP_COMPARE(bge, static_cast<i64>(a) >= static_cast<i64>(b))
FABRICVP_COMPARE(bltu, a < b)
FABRICVP_COMPARE(bgeu, a >= b)

/// Types that loads and stores move; a load extends by its type's signedness.
using lb_type = std::int8_t;
using lh_type = std::int16_t;
using lw_type = std::int32_t;
using ld_type = std::int64_t;
using lbu_type = std::uint8_t;
using lhu_type = std::uint16_t;
using lwu_type = std::uint32_t;
using sb_type = std::uint8_t;
using sh_type = std::uint16_t;
using sw_type = std::uint32_t;
using sd_type = std::uint64_t;
using flw_type = std::uint32_t;
using fld_type = std::uint64_t;
using fsw_type = std::uint32_t;
using fsd_type = std::uint64_t;

// Register or immediate in b.
FABRICVP_BINARY(add, a + b)
FABRICVP_BINARY(sub, a - b)
FABRICVP_BINARY(sll, a << (b & 63))
FABRICVP_BINARY(slt, static_cast<i64>(a) < static_cast<i64>(b))
FABRICVP_BINARY(sltu, a < b)
FABRICVP_BINARY(xor_, a ^ b)
FABRICVP_BINARY(srl, a >> (b & 63))
FABRICVP_BINARY(sra, static_cast<u64>(static_cast<i64>(a) >> (b & 63)))
FABRICVP_BINARY(or_, a | b)
FABRICVP_BINARY(and_, a& b)
FABRICVP_BINARY(addw, sext32(a + b))
FABRICVP_BINARY(subw, sext32(a - b))
FABRICVP_BINARY(sllw, sext32(a << (b & 31)))
FABRICVP_BINARY(srlw, sext32(static_cast<u32>(a) >> (b & 31)))
FABRICVP_BINARY(sraw, static_cast<u64>(static_cast<i64>(static_cast<i32>(a) >> (b & 31))))
FABRICVP_BINARY(addi, add(a, b))
FABRICVP_BINARY(slti, slt(a, b))
FABRICVP_BINARY(sltiu, sltu(a, b))
FABRICVP_BINARY(xori, a ^ b)
FABRICVP_BINARY(ori, a | b)
FABRICVP_BINARY(andi, a& b)
FABRICVP_BINARY(slli, sll(a, b))
FABRICVP_BINARY(srli, srl(a, b))
FABRICVP_BINARY(srai, sra(a, b))
FABRICVP_BINARY(addiw, addw(a, b))
FABRICVP_BINARY(slliw, sllw(a, b))
FABRICVP_BINARY(srliw, srlw(a, b))
FABRICVP_BINARY(sraiw, sraw(a, b))

// M. Division by zero and overflow have defined results (unprivileged specification, table 7.1).
FABRICVP_BINARY(mul, a* b)
FABRICVP_BINARY(mulh, static_cast<u64>(static_cast<__int128>(static_cast<i64>(a)) * static_cast<i64>(b) >> 64))
FABRICVP_BINARY(mulhsu, static_cast<u64>(static_cast<__int128>(static_cast<i64>(a)) * static_cast<__int128>(b) >> 64))
FABRICVP_BINARY(mulhu, static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64))
constexpr u64 div(u64 a, u64 b) {
    if (b == 0) return ~u64{0};
    if (b == ~u64{0}) return 0 - a;
    return static_cast<u64>(static_cast<i64>(a) / static_cast<i64>(b));
}
FABRICVP_BINARY(divu, b == 0 ? ~u64{0} : a / b)
constexpr u64 rem(u64 a, u64 b) {
    if (b == 0) return a;
    if (b == ~u64{0}) return 0;
    return static_cast<u64>(static_cast<i64>(a) % static_cast<i64>(b));
}
FABRICVP_BINARY(remu, b == 0 ? a : a % b)
FABRICVP_BINARY(mulw, sext32(a* b))
FABRICVP_BINARY(divw, sext32(div(sext32(a), sext32(b))))
FABRICVP_BINARY(divuw, sext32(static_cast<u32>(b) == 0 ? ~u64{0} : static_cast<u32>(a) / static_cast<u32>(b)))
FABRICVP_BINARY(remw, sext32(rem(sext32(a), sext32(b))))
FABRICVP_BINARY(remuw, sext32(static_cast<u32>(b) == 0 ? a : static_cast<u32>(a) % static_cast<u32>(b)))

// Zba
FABRICVP_BINARY(add_uw, static_cast<u32>(a) + b)
FABRICVP_BINARY(sh1add, (a << 1) + b)
FABRICVP_BINARY(sh2add, (a << 2) + b)
FABRICVP_BINARY(sh3add, (a << 3) + b)
FABRICVP_BINARY(sh1add_uw, (u64{static_cast<u32>(a)} << 1) + b)
FABRICVP_BINARY(sh2add_uw, (u64{static_cast<u32>(a)} << 2) + b)
FABRICVP_BINARY(sh3add_uw, (u64{static_cast<u32>(a)} << 3) + b)
FABRICVP_BINARY(slli_uw, u64{static_cast<u32>(a)} << (b & 63))

// Zbb
FABRICVP_BINARY(andn, a & ~b)
FABRICVP_BINARY(orn, a | ~b)
FABRICVP_BINARY(xnor, ~(a ^ b))
FABRICVP_UNARY(clz, a ? static_cast<u64>(__builtin_clzll(a)) : 64)
FABRICVP_UNARY(ctz, a ? static_cast<u64>(__builtin_ctzll(a)) : 64)
FABRICVP_UNARY(cpop, static_cast<u64>(__builtin_popcountll(a)))
FABRICVP_UNARY(clzw, static_cast<u32>(a) ? static_cast<u64>(__builtin_clz(static_cast<u32>(a))) : 32)
FABRICVP_UNARY(ctzw, static_cast<u32>(a) ? static_cast<u64>(__builtin_ctz(static_cast<u32>(a))) : 32)
FABRICVP_UNARY(cpopw, static_cast<u64>(__builtin_popcount(static_cast<u32>(a))))
FABRICVP_UNARY(sext_b, static_cast<u64>(static_cast<i64>(static_cast<std::int8_t>(a))))
FABRICVP_UNARY(sext_h, static_cast<u64>(static_cast<i64>(static_cast<std::int16_t>(a))))
FABRICVP_UNARY(zext_h, a & 0xffff)
FABRICVP_UNARY(rev8, __builtin_bswap64(a))
constexpr u64 orc_b(u64 a) {
    constexpr u64 low = 0x0101010101010101;
    a |= a >> 4 & 0x0f0f0f0f0f0f0f0f;
    a |= a >> 2 & 0x3333333333333333;
    a |= a >> 1 & 0x5555555555555555;
    return (a & low) * 255;
}
FABRICVP_BINARY(max, static_cast<i64>(a) > static_cast<i64>(b) ? a : b)
FABRICVP_BINARY(maxu, a > b ? a : b)
FABRICVP_BINARY(min, static_cast<i64>(a) < static_cast<i64>(b) ? a : b)
FABRICVP_BINARY(minu, a < b ? a : b)
FABRICVP_BINARY(rol, a << (b & 63) | a >> (-b & 63))
FABRICVP_BINARY(ror, a >> (b & 63) | a << (-b & 63))
FABRICVP_BINARY(rori, ror(a, b))
FABRICVP_BINARY(rolw, sext32(static_cast<u32>(a) << (b & 31) | static_cast<u32>(a) >> (-b & 31)))
FABRICVP_BINARY(rorw, sext32(static_cast<u32>(a) >> (b & 31) | static_cast<u32>(a) << (-b & 31)))
FABRICVP_BINARY(roriw, rorw(a, b))

// Zbs
FABRICVP_BINARY(bclr, a & ~(u64{1} << (b & 63)))
FABRICVP_BINARY(bext, a >> (b & 63) & 1)
FABRICVP_BINARY(binv, a ^ u64{1} << (b & 63))
FABRICVP_BINARY(bset, a | u64{1} << (b & 63))
FABRICVP_BINARY(bclri, bclr(a, b))
FABRICVP_BINARY(bexti, bext(a, b))
FABRICVP_BINARY(binvi, binv(a, b))
FABRICVP_BINARY(bseti, bset(a, b))

// A: the new memory value from the old one and the operand; widths are in the types. atomic_operation names the
// operation for memory that performs it itself.
enum class atomic_operation : std::uint8_t {
    swap,
    add,
    bit_xor,
    bit_or,
    bit_and,
    min,
    max,
    min_unsigned,
    max_unsigned
};

#define FABRICVP_ATOMIC(name, kind, expression)                                    \
    constexpr u32 name##_w(u32 a, u32 b) {                                         \
        using s = i32;                                                             \
        (void)sizeof(s);                                                           \
        return expression;                                                         \
    }                                                                              \
    constexpr u64 name##_d(u64 a, u64 b) {                                         \
        using s = i64;                                                             \
        (void)sizeof(s);                                                           \
        return expression;                                                         \
    }                                                                              \
    using name##_w_type = i32;                                                     \
    using name##_d_type = i64;                                                     \
    inline constexpr atomic_operation name##_w_operation = atomic_operation::kind; \
    inline constexpr atomic_operation name##_d_operation = atomic_operation::kind;

FABRICVP_ATOMIC(amoswap, swap, (static_cast<void>(a), b))
FABRICVP_ATOMIC(amoadd, add, a + b)
FABRICVP_ATOMIC(amoxor, bit_xor, a ^ b)
FABRICVP_ATOMIC(amoand, bit_and, a& b)
FABRICVP_ATOMIC(amoor, bit_or, a | b)
FABRICVP_ATOMIC(amomin, min, static_cast<s>(a) < static_cast<s>(b) ? a : b)
FABRICVP_ATOMIC(amomax, max, static_cast<s>(a) > static_cast<s>(b) ? a : b)
FABRICVP_ATOMIC(amominu, min_unsigned, a < b ? a : b)
FABRICVP_ATOMIC(amomaxu, max_unsigned, a > b ? a : b)
using lr_w_type = i32;
using lr_d_type = i64;
using sc_w_type = i32;
using sc_d_type = i64;

#undef FABRICVP_BINARY
#undef FABRICVP_UNARY
#undef FABRICVP_COMPARE
#undef FABRICVP_ATOMIC

}  // namespace fabricvp::riscv::semantics
