// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/register_use.h"

#include <cstring>
#include <vector>

namespace fabricvp::gpu {

using riscv::opcode;

namespace {

constexpr unsigned return_address = 1, stack_pointer = 2;
constexpr std::uint64_t integer_rows = 0xffffffff;

/// What becomes of an instruction's destination.
struct writer {
    std::uint64_t reads = 0, writes = 0;
    bool differs = false;  ///< between lanes, whatever it reads
    bool wide = false;     ///< 64 bits, whatever it reads
    bool copies = false;   ///< as wide as what it reads
};

bool reads_lane_identifier(const lane_op& o) {
    const auto number = static_cast<unsigned>(o.immediate);
    return o.kind == lane_kind::csr &&
           ((number >= GPU_CSR_LOCAL_ID_X && number < GPU_CSR_LOCAL_ID_X + 3) || number == GPU_CSR_LANE);
}

void set_width(writer& w, const lane_op& o) {
    switch (o.op) {
        case opcode::addi:
        case opcode::andi:
        case opcode::ori:
        case opcode::xori:
        case opcode::and_:
        case opcode::or_:
        case opcode::xor_: w.copies = true; return;
        case opcode::lui:
        case opcode::addiw:
        case opcode::slliw:
        case opcode::srliw:
        case opcode::sraiw:
        case opcode::addw:
        case opcode::subw:
        case opcode::sllw:
        case opcode::srlw:
        case opcode::sraw:
        case opcode::mulw:
        case opcode::divw:
        case opcode::divuw:
        case opcode::remw:
        case opcode::remuw:
        case opcode::slt:
        case opcode::sltu:
        case opcode::slti:
        case opcode::sltiu:
        case opcode::fcvt_w_s:
        case opcode::fcvt_wu_s:
        case opcode::fcvt_w_d:
        case opcode::fcvt_wu_d:
        case opcode::fmv_x_w:
        case opcode::feq_s:
        case opcode::flt_s:
        case opcode::fle_s:
        case opcode::feq_d:
        case opcode::flt_d:
        case opcode::fle_d:
        case opcode::fclass_s:
        case opcode::fclass_d:
        case opcode::lane_shuffle_w:
        case opcode::lane_shuffle_w_of: return;
        default:
            w.wide = o.kind == lane_kind::memory ? o.memory.size == 8 && o.memory.kind != access_kind::store_conditional
                                                 : o.kind != lane_kind::csr;
    }
}

bool is_double(const lane_op& o) {
    switch (o.op) {
        case opcode::fld:
        case opcode::fsd:
        case opcode::fsgnj_d:
        case opcode::fsgnjn_d:
        case opcode::fsgnjx_d:
        case opcode::fmv_x_d:
        case opcode::fmv_d_x:
        case opcode::fclass_d: return true;
        default: return o.timing == issue_class::double_precision || o.timing == issue_class::double_divide;
    }
}

unsigned count(std::uint64_t rows) { return static_cast<unsigned>(__builtin_popcountll(rows)); }

}  // namespace

std::uint32_t count_registers(const control_flow_graph& graph) {
    std::vector<writer> writers;
    std::uint64_t floating = 0, doubles = 0;
    for (const auto& block : graph.blocks) {
        for (auto i = block.first; i <= block.last; ++i) {
            const auto page = graph.pages.find(i / control_flow_graph::page_instructions);
            if (page == graph.pages.end() || page->second.bytes.empty()) continue;
            std::uint32_t word;
            std::memcpy(&word, page->second.bytes.data() + std::size_t{i % control_flow_graph::page_instructions} * 4,
                        4);
            const auto o = decode_lane_op(word);
            floating |= o.touches & ~integer_rows;
            if (is_double(o)) doubles |= o.touches & ~integer_rows;
            if (o.kind == lane_kind::illegal || !(row_bit(o.rd) & integer_rows)) continue;
            writer w;
            w.writes = row_bit(o.rd);
            // A mask of lanes is the same in all of them.
            if (o.kind != lane_kind::csr && o.kind != lane_kind::vote)
                w.reads = (row_bit(o.rs1) | row_bit(o.rs2) | row_bit(o.rs3)) & ~row_bit(0);
            w.differs = reads_lane_identifier(o) || (o.kind == lane_kind::memory && o.memory.kind != access_kind::read);
            set_width(w, o);
            writers.push_back(w);
        }
    }
    // What spilled registers hold differs, though the stack pointer does not; so does what floating-point registers
    // hold.
    std::uint64_t differ = row_bit(stack_pointer) | floating, wide = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& w : writers) {
            const bool new_differs = !(differ & w.writes) && (w.differs || (w.reads & differ));
            const bool new_wide = !(wide & w.writes) && (w.wide || (w.copies && (w.reads & wide)));
            if (new_differs) differ |= w.writes;
            if (new_wide) wide |= w.writes;
            changed = changed || new_differs || new_wide;
        }
    }
    const auto integers = differ & integer_rows & ~(row_bit(0) | row_bit(return_address) | row_bit(stack_pointer));
    return count(integers) + count(integers & wide) + count(floating) + count(doubles);
}

}  // namespace fabricvp::gpu
