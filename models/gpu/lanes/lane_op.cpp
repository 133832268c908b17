// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/lane_op.h"

#include "riscv/decoder.h"
#include "riscv/semantics.h"

namespace fabricvp::gpu {

namespace {

using riscv::opcode;
using riscv::operand_format;
using operation = atomic_extension::operation;

enum operand : unsigned { no_operand, x_operand, f_operand };

/// Which register file rd, rs1, rs2 and rs3 name.
struct operand_files {
    operand rd, rs1, rs2, rs3;
};

operand_files files_of(operand_format format) {
    constexpr auto n = no_operand;
    constexpr auto x = x_operand;
    constexpr auto f = f_operand;
    switch (format) {
        case operand_format::upper:
        case operand_format::upper_pc:
        case operand_format::jump: return {x, n, n, n};
        case operand_format::jump_register:
        case operand_format::load:
        case operand_format::load_reserved:
        case operand_format::register_immediate:
        case operand_format::register_shift:
        case operand_format::register_only: return {x, x, n, n};
        case operand_format::branch:
        case operand_format::store: return {n, x, x, n};
        case operand_format::register_register:
        case operand_format::store_conditional:
        case operand_format::atomic: return {x, x, x, n};
        case operand_format::float_load: return {f, x, n, n};
        case operand_format::float_store: return {n, x, f, n};
        case operand_format::f_ssss_rm:
        case operand_format::f_dddd_rm: return {f, f, f, f};
        case operand_format::f_sss_rm:
        case operand_format::f_ddd_rm:
        case operand_format::f_sss:
        case operand_format::f_ddd: return {f, f, f, n};
        case operand_format::f_ss_rm:
        case operand_format::f_dd_rm:
        case operand_format::f_sd_rm:
        case operand_format::f_ds_rm: return {f, f, n, n};
        case operand_format::f_xs_rm:
        case operand_format::f_xd_rm:
        case operand_format::f_xs:
        case operand_format::f_xd: return {x, f, n, n};
        case operand_format::f_xss:
        case operand_format::f_xdd: return {x, f, f, n};
        case operand_format::f_sx_rm:
        case operand_format::f_dx_rm:
        case operand_format::f_sx:
        case operand_format::f_dx: return {f, x, n, n};
        default: return {n, n, n, n};
    }
}

operand_files files_of_lane(opcode op) {
    constexpr auto n = no_operand;
    constexpr auto x = x_operand;
    switch (op) {
        case opcode::lane_load_w:
        case opcode::lane_load_d:
        case opcode::lane_ballot:
        case opcode::lane_ballot_of: return {x, x, n, n};
        case opcode::lane_active: return {x, n, n, n};
        case opcode::lane_shuffle_w:
        case opcode::lane_shuffle_d:
        case opcode::lane_shuffle_w_of:
        case opcode::lane_shuffle_d_of:
        case opcode::lane_add_s:
        case opcode::lane_add_d: return {x, x, x, n};
        case opcode::lane_exchange: return {n, x, x, n};
        case opcode::lane_sync:
        case opcode::lane_sync_any: return {n, x, n, n};
        default: return {n, n, n, n};
    }
}

issue_class class_of(opcode op, const riscv::instruction_info& row) {
    const bool moves =  // signs and bit patterns: no unit for double precision has to compute
        op == opcode::fsgnj_d || op == opcode::fsgnjn_d || op == opcode::fsgnjx_d;
    bool wide = false;
    switch (row.format) {
        case operand_format::f_dddd_rm:
        case operand_format::f_ddd_rm:
        case operand_format::f_ddd:
        case operand_format::f_dd_rm:
        case operand_format::f_sd_rm:
        case operand_format::f_ds_rm:
        case operand_format::f_xdd:
        case operand_format::f_xd_rm:
        case operand_format::f_dx_rm: wide = !moves; break;
        default: break;
    }
    if (wide && row.timing == riscv::timing_class::floating) return issue_class::double_precision;
    if (wide && row.timing == riscv::timing_class::float_divide) return issue_class::double_divide;
    return static_cast<issue_class>(row.timing);
}

lane_kind kind_of(opcode op, operand_format format) {
    switch (op) {
        case opcode::lui: return lane_kind::constant;
        case opcode::pause: return lane_kind::pause;
        case opcode::fence:
        case opcode::lane_fence: return lane_kind::fence;
        case opcode::fence_i: return lane_kind::nothing;
        case opcode::lane_barrier: return lane_kind::barrier;
        case opcode::lane_end: return lane_kind::end;
        case opcode::lane_load_w:
        case opcode::lane_load_d:
        case opcode::lane_add_s:
        case opcode::lane_add_d: return lane_kind::memory;
        case opcode::lane_ballot:
        case opcode::lane_ballot_of:
        case opcode::lane_active: return lane_kind::vote;
        case opcode::lane_shuffle_w:
        case opcode::lane_shuffle_d:
        case opcode::lane_shuffle_w_of:
        case opcode::lane_shuffle_d_of: return lane_kind::shuffle;
        case opcode::lane_exchange:
        case opcode::lane_sync:
        case opcode::lane_sync_any: return lane_kind::sync;
        default: break;
    }
    switch (format) {
        case operand_format::upper_pc: return lane_kind::relative;
        case operand_format::jump: return lane_kind::jump;
        case operand_format::jump_register: return lane_kind::jump_register;
        case operand_format::branch: return lane_kind::branch;
        case operand_format::csr: return lane_kind::csr;
        case operand_format::load:
        case operand_format::store:
        case operand_format::float_load:
        case operand_format::float_store:
        case operand_format::atomic:
        case operand_format::load_reserved:
        case operand_format::store_conditional: return lane_kind::memory;
        case operand_format::none:
        case operand_format::system: return lane_kind::illegal;
        default: return lane_kind::row;
    }
}

operation operation_of(riscv::semantics::atomic_operation o) {
    using from = riscv::semantics::atomic_operation;
    switch (o) {
        case from::swap: return operation::swap;
        case from::add: return operation::add;
        case from::bit_xor: return operation::bit_xor;
        case from::bit_or: return operation::bit_or;
        case from::bit_and: return operation::bit_and;
        case from::min: return operation::min;
        case from::max: return operation::max;
        case from::min_unsigned: return operation::min_unsigned;
        default: return operation::max_unsigned;
    }
}

template <class T>
constexpr load_format integer_format() {
    constexpr bool is_signed = std::is_signed_v<T>;
    switch (sizeof(T)) {
        case 1: return is_signed ? load_format::i8 : load_format::u8;
        case 2: return is_signed ? load_format::i16 : load_format::u16;
        case 4: return is_signed ? load_format::i32 : load_format::u32;
        default: return load_format::i64;
    }
}

template <class T>
void describe(lane_op& o, access_kind kind, load_format format) {
    o.memory.kind = kind;
    o.memory.size = sizeof(T);
    o.format = format;
}

/// Width and treatment of the data, from the types in semantics.h.
void describe_access(lane_op& o) {
    namespace sem = riscv::semantics;
    switch (o.op) {
// clang-format off
#define PLAIN(name) \
    case opcode::name: describe<sem::name##_type>(o, access_kind::read, integer_format<sem::name##_type>()); break;
        PLAIN(lb) PLAIN(lh) PLAIN(lw) PLAIN(ld) PLAIN(lbu) PLAIN(lhu) PLAIN(lwu)
#undef PLAIN
#define PLAIN(name) \
    case opcode::name: describe<sem::name##_type>(o, access_kind::write, load_format::none); break;
        PLAIN(sb) PLAIN(sh) PLAIN(sw) PLAIN(sd) PLAIN(fsw) PLAIN(fsd)
#undef PLAIN
            // clang-format on
            case opcode::flw : describe<sem::flw_type>(o, access_kind::read, load_format::box32);
        break;
        case opcode::fld: describe<sem::fld_type>(o, access_kind::read, load_format::i64); break;
        case opcode::lr_w: describe<sem::lr_w_type>(o, access_kind::load_reserved, load_format::i32); break;
        case opcode::lr_d: describe<sem::lr_d_type>(o, access_kind::load_reserved, load_format::i64); break;
        case opcode::sc_w: describe<sem::sc_w_type>(o, access_kind::store_conditional, load_format::u8); break;
        case opcode::sc_d: describe<sem::sc_d_type>(o, access_kind::store_conditional, load_format::u8); break;
        case opcode::lane_load_w: describe<sem::lw_type>(o, access_kind::read, load_format::i32); break;
        case opcode::lane_load_d: describe<sem::ld_type>(o, access_kind::read, load_format::i64); break;
        case opcode::lane_add_s:
            describe<std::int32_t>(o, access_kind::atomic, load_format::i32);
            o.memory.operation = operation::add_float;
            break;
        case opcode::lane_add_d:
            describe<std::int64_t>(o, access_kind::atomic, load_format::i64);
            o.memory.operation = operation::add_float;
            break;
// clang-format off
#define AMO(name) \
    case opcode::name: \
        describe<sem::name##_type>(o, access_kind::atomic, integer_format<sem::name##_type>()); \
        o.memory.operation = operation_of(sem::name##_operation); \
        break;
        AMO(amoswap_w) AMO(amoadd_w) AMO(amoxor_w) AMO(amoand_w) AMO(amoor_w) AMO(amomin_w) AMO(amomax_w)
        AMO(amominu_w) AMO(amomaxu_w) AMO(amoswap_d) AMO(amoadd_d) AMO(amoxor_d) AMO(amoand_d) AMO(amoor_d)
        AMO(amomin_d) AMO(amomax_d) AMO(amominu_d) AMO(amomaxu_d)
#undef AMO
                // clang-format on
                default : break;
    }
    const bool plain = o.memory.kind == access_kind::read || o.memory.kind == access_kind::write;
    const bool scoped = o.op == opcode::lane_load_w || o.op == opcode::lane_load_d;
    o.memory.scope = plain && !scoped ? memory_scope::plain : memory_scope::agent;
}

/// Rows that an operand may mean; x0 is never waited for.
std::uint64_t bit(operand file, unsigned number) {
    if (file == no_operand || (file == x_operand && number == 0)) return 0;
    return std::uint64_t{1} << (file == f_operand ? lane_registers::f0 + number : number);
}

}  // namespace

lane_op decode_lane_op(std::uint32_t word) {
    static constexpr riscv::decoder_options options{true, true, false, true};
    lane_op o;
    if ((word & 3) != 3) return o;
    const auto i = riscv::decode(word, options);
    const auto& row = riscv::info(i.op);
    o.op = i.op;
    o.kind = kind_of(i.op, row.format);
    o.timing = class_of(i.op, row);
    o.immediate = i.immediate;
    auto files = row.format == operand_format::lane ? files_of_lane(i.op) : files_of(row.format);
    if (o.kind == lane_kind::csr) files = {x_operand, word & 0x4000 ? no_operand : x_operand, no_operand, no_operand};
    const auto number = [](operand file, unsigned n) {
        return static_cast<std::uint8_t>(file == f_operand ? lane_registers::f0 + n : file == x_operand ? n : 0);
    };
    o.rs1 = o.kind == lane_kind::csr ? i.rs1 : number(files.rs1, i.rs1);
    o.rs2 = number(files.rs2, i.rs2);
    o.rs3 = number(files.rs3, i.rs3);
    const bool discards = files.rd == no_operand || (files.rd == x_operand && i.rd == 0);
    o.rd = discards ? lane_registers::sink : number(files.rd, i.rd);
    o.touches = bit(files.rd, i.rd) | bit(files.rs1, i.rs1) | bit(files.rs2, i.rs2) | bit(files.rs3, i.rs3);
    if (o.kind == lane_kind::memory) describe_access(o);
    if (o.memory.operation == operation::add_float) o.immediate = 0;  // R-type: the address is rs1 as it is
    if (o.op == opcode::lane_exchange) o.immediate = i.rd;            // its kind
    if ((word & 0x7f) == 0x2f) {
        o.acquire = word >> 26 & 1;
        o.release = word >> 25 & 1;
    }
    if (o.op == opcode::lane_shuffle_w || o.op == opcode::lane_shuffle_w_of)
        describe<std::int32_t>(o, access_kind::read, load_format::i32);
    if (o.op == opcode::lane_shuffle_d || o.op == opcode::lane_shuffle_d_of)
        describe<std::int64_t>(o, access_kind::read, load_format::i64);
    return o;
}

}  // namespace fabricvp::gpu
