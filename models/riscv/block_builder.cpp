// SPDX-License-Identifier: Apache-2.0
// From a program counter to a decoded block.
#include <algorithm>
#include <cstring>

#include "riscv/hart_core.h"
#include "riscv/internal_ops.h"

namespace fabricvp::riscv {

namespace {
constexpr std::uint64_t page_size = sparse_memory::page_size;

std::uint32_t fetch(const std::uint8_t* low, const std::uint8_t* high) {
    std::uint16_t first, second = 0;
    std::memcpy(&first, low, sizeof first);
    if (instruction_length(first) == 4) std::memcpy(&second, high, sizeof second);
    return first | std::uint32_t{second} << 16;
}

bool is_float(opcode op) { return info(op).belongs_to == extension::floating; }

/// True if rd names a floating-point register, which has no sink.
bool writes_float(operand_format f) {
    switch (f) {
        case operand_format::float_load:
        case operand_format::f_ssss_rm:
        case operand_format::f_dddd_rm:
        case operand_format::f_sss_rm:
        case operand_format::f_ddd_rm:
        case operand_format::f_ss_rm:
        case operand_format::f_dd_rm:
        case operand_format::f_sss:
        case operand_format::f_ddd:
        case operand_format::f_sx_rm:
        case operand_format::f_dx_rm:
        case operand_format::f_sx:
        case operand_format::f_dx:
        case operand_format::f_sd_rm:
        case operand_format::f_ds_rm: return true;
        default: return false;
    }
}
}  // namespace

void hart::implementation::append(const instruction& i, unsigned offset) {
    auto op = i.op;
    if (is_float(op) && !state.float_enabled()) op = opcode::illegal;
    const auto format = info(op).format;
    block_op o{};
    const bool sent_to_bus = op == opcode::fence && order_on_bus;
    o.handler = m_labels[sent_to_bus ? static_cast<unsigned>(internal_op::bus_fence) : static_cast<unsigned>(op)];
    o.immediate = i.immediate;
    if (format == operand_format::upper_pc || format == operand_format::jump || format == operand_format::branch)
        o.immediate += static_cast<std::int32_t>(offset);
    o.rd = i.rd == 0 && !writes_float(format) ? static_cast<std::uint8_t>(hart_state::sink) : i.rd;
    o.rs1 = i.rs1;
    o.rs2 = i.rs2;
    o.rs3 = i.rs3;
    m_ops.push_back(o);
    m_positions.push_back(
        {m_cost, static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(m_instructions), i.bits});
    m_cost += costs[static_cast<unsigned>(info(op).timing)];
    ++m_instructions;
}

block* hart::implementation::finish_block(block* to, const std::uint8_t* host, unsigned length) {
    std::copy(m_ops.begin(), m_ops.end(), to->ops());
    std::copy(m_positions.begin(), m_positions.end(), to->positions());
    to->cost = m_cost;
    to->instructions = m_instructions;
    to->length = length;
    to->host = host;
    to->float_enabled = state.float_enabled();
    return to;
}

block* hart::implementation::build(std::uint64_t pc, const memory_target& at, unsigned max_instructions) {
    m_ops.clear();
    m_positions.clear();
    m_cost = m_instructions = 0;
    if (code_cache) {
        m_ops.push_back({m_labels[static_cast<unsigned>(internal_op::code_lines)], 0, 0, 0, 0, 0});
        m_positions.push_back({});
    } else if (code_translator && translated_after() && max_instructions > 1 && !timing && !probe) {
        m_ops.push_back({m_labels[static_cast<unsigned>(internal_op::count_entry)],
                         static_cast<std::int32_t>(translated_after()), 0, 0, 0, 0});
        m_positions.push_back({});
    }
    if (probe) {
        m_ops.push_back({m_labels[static_cast<unsigned>(internal_op::tell_block)], 0, 0, 0, 0, 0});
        m_positions.push_back({});
    }
    const auto in_page = static_cast<unsigned>(page_size - (pc & (page_size - 1)));
    // Where the page is not in the TLB, what holds for an instruction's first half need not hold for its second.
    const bool by_halves =
        max_instructions == 1 && memory.fetch_view().execute[tlb_set::index(pc)].tag != (pc & ~(page_size - 1));
    unsigned offset = 0;
    memory_target second;
    bool ended = false;
    while (!ended && m_instructions < max_instructions && offset < in_page) {
        if (offset && m_debugging && m_splits[split_index(pc + offset)]) break;
        const auto* low = at.host + offset;
        const auto* high = low + 2;
        std::uint16_t first;
        std::memcpy(&first, low, sizeof first);
        if (instruction_length(first) == 4 && (by_halves || offset + 4 > in_page)) {
            if (offset != 0) break;
            second = memory.resolve(pc + 2, 2, access_type::execute);
            if (second.place != memory_target::where::direct) {
                fault(second.place == memory_target::where::fault ? second.fault : cause::instruction_access, pc + 2);
                return nullptr;
            }
            high = second.host;
        }
        const auto i = decode(fetch(low, high), decoding);
        append(i, offset);
        offset += i.length;
        ended = ends_block(i.op) || m_ops.back().handler == m_labels[0];
    }
    if (!ended) {
        block_op o{};
        o.handler = m_labels[static_cast<unsigned>(internal_op::block_end)];
        o.immediate = static_cast<std::int32_t>(offset);
        m_ops.push_back(o);
        m_positions.push_back(
            {m_cost, static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(m_instructions), 0});
    }
    const auto op_count = static_cast<unsigned>(m_ops.size());
    if (max_instructions == 1) {
        auto* b = new (m_scratch.data()) block;
        b->op_count = op_count;
        finish_block(b, at.host, offset);
        if (probe) number_block(*b, at.physical);
        return b;
    }
    auto* b = finish_block(blocks.allocate(op_count), at.host, offset);
    if (probe) number_block(*b, at.physical);
    blocks.insert(b, *at.memory, at.offset);
    if (second.host) {
        b->second_page = second.host;
        blocks.insert_tail(b, *second.memory, second.offset, 2);
    }
    return b;
}

std::int64_t hart::implementation::fetch_lines(block& b) {
    std::int64_t cost = 0;
    const auto before = code_cache->generation();
    const auto in_page =
        static_cast<std::uint32_t>(page_size - (reinterpret_cast<std::uint64_t>(b.host) & (page_size - 1)));
    const auto reach = [&](const std::uint8_t* from, const std::uint8_t* end) {
        for (const auto* at = from; at < end;
             at += instruction_cache::line - reinterpret_cast<std::uint64_t>(at) % instruction_cache::line)
            if (code_cache->fetch(at)) cost += m_miss_cost;
    };
    reach(b.host, b.host + std::min(b.length, in_page));
    if (b.second_page) reach(b.second_page, b.second_page + 2);
    b.fetched = before == code_cache->generation() ? before : 0;  // else it may have driven out its own beginning
    return cost;
}

block* hart::implementation::find_block(std::uint64_t pc, block_link*& link) {
    // Where a breakpoint may be, every arrival comes through here.
    const bool watched = m_debugging && (m_single || m_splits[split_index(pc)]);
    if (watched) {
        link = nullptr;
        if (debug_stop_before(pc)) {
            exit = exit_reason::stopped;
            return nullptr;
        }
    }
    memory_target at;
    const auto& entry = memory.fetch_view().execute[tlb_set::index(pc)];
    const auto page = pc & ~(page_size - 1);
    const auto is_here = [&](const block* b) { return b->host == at.host && !b->second_page; };
    if (entry.tag == page) {
        at.host = reinterpret_cast<std::uint8_t*>(pc + entry.addend);
        if (m_single) return build(pc, at, 1);
        if (link && (link->code_context & ~block_link::far) == code_context && is_here(link->target))
            return link->target;
        auto& slot = jump_cache[pc >> 1 & (jump_entries - 1)];
        if (slot.pc == pc && slot.code_context == code_context && is_here(slot.target)) {
            slot.context = context;
            return slot.target;
        }
        auto* b = blocks.find(at.host, state.float_enabled());
        if (b && is_here(b)) {
            if (!watched) cache_target(pc, b);
            return b;
        }
    }
    at = memory.resolve(pc, 2, access_type::execute);
    budget -= walk_cost();
    if (at.place != memory_target::where::direct) {
        fault(at.place == memory_target::where::fault ? at.fault : cause::instruction_access, pc);
        return nullptr;
    }
    // Pages that the TLB cannot hold (PMP borders inside them) are decoded instruction by instruction.
    const bool plain = memory.fetch_view().execute[tlb_set::index(pc)].tag == page;
    if (m_single || !plain) {
        link = nullptr;
        return build(pc, at, 1);
    }
    if (blocks.full()) {
        clear_code();
        link = nullptr;
    }
    auto* b = blocks.find(at.host, state.float_enabled());
    if (b && b->second_page) {
        const auto second = memory.resolve(pc + 2, 2, access_type::execute);
        if (second.place != memory_target::where::direct) {
            fault(second.place == memory_target::where::fault ? second.fault : cause::instruction_access, pc + 2);
            return nullptr;
        }
        if (second.host != b->second_page) {
            b->dead = true;
            b = nullptr;
        }
    }
    if (!b) b = build(pc, at, max_block_instructions);
    if (b && !watched) cache_target(pc, b);
    return b;
}

void hart::implementation::cache_target(std::uint64_t pc, block* b) {
    jump_cache[pc >> 1 & (jump_entries - 1)] = {pc, context, code_context, b};
}

void hart::implementation::clear_code() {
    blocks.clear();
    code_epoch();
}

void hart::implementation::translation_epoch() {
    ++m_epoch;
    update_context();
}

void hart::implementation::code_epoch() {
    ++m_code_epoch;
    translation_epoch();
}

void hart::implementation::update_context() {
    const auto view = (state.float_enabled() ? 4u : 0u) | static_cast<unsigned>(state.mode);
    context = m_epoch << 3 | view;
    code_context = m_code_epoch << 3 | view;
}

}  // namespace fabricvp::riscv
