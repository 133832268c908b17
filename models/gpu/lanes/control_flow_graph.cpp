// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/control_flow_graph.h"

#include <algorithm>
#include <cstring>

#include "abi/gpu_apertures.h"

namespace fabricvp::gpu {

using riscv::opcode;

namespace {

enum mark : std::uint8_t { reached = 1, leader = 2, root = 4, ends = 8 };

constexpr std::uint32_t code_instructions = GPU_CODE_SIZE / 4;
constexpr unsigned table_search = 24;       // instructions before a jump in which its table is used,
constexpr unsigned constant_search = 4096;  // and before its use in which it is loaded, if need be outside of a loop
constexpr std::size_t max_entries = 4096;   // of all tables

bool is_link(unsigned row) { return row == 1 || row == 5; }

std::uint64_t address_of(std::uint32_t instruction) { return GPU_CODE_BASE + std::uint64_t{instruction} * 4; }

/// \returns whether an address is that of an instruction
bool instruction_of(std::uint64_t address, std::uint32_t& to) {
    if (address - GPU_CODE_BASE >= GPU_CODE_SIZE || address % 4) return false;
    to = static_cast<std::uint32_t>((address - GPU_CODE_BASE) / 4);
    return true;
}

std::uint64_t signed_immediate(const lane_op& o) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(o.immediate));
}

}  // namespace

control_flow_graph::control_flow_graph(const code_reader& read, std::uint32_t entry) : m_read(read) {
    visit(entry, leader | root);
    follow();
    make_blocks();
}

control_flow_graph::page* control_flow_graph::page_of(std::uint32_t instruction) {
    const auto number = instruction / page_instructions;
    const auto found = pages.find(number);
    if (found != pages.end()) return found->second.bytes.empty() ? nullptr : &found->second;
    if (pages.size() >= max_pages) return nullptr;
    auto& p = pages[number];
    p.bytes.resize(page_bytes);
    if (!m_read(number, p.bytes.data())) {
        p.bytes.clear();
        return nullptr;
    }
    p.marks.resize(page_instructions);
    return &p;
}

bool control_flow_graph::word_at(std::uint32_t instruction, std::uint32_t& word) {
    auto* const p = instruction < code_instructions ? page_of(instruction) : nullptr;
    if (!p) return false;
    p->lines |= std::uint64_t{1} << instruction % page_instructions / line_instructions;
    std::memcpy(&word, p->bytes.data() + std::size_t{instruction % page_instructions} * 4, 4);
    return true;
}

std::uint8_t* control_flow_graph::marks_at(std::uint32_t instruction) {
    auto* const p = instruction < code_instructions ? page_of(instruction) : nullptr;
    return p ? &p->marks[instruction % page_instructions] : nullptr;
}

void control_flow_graph::visit(std::uint32_t instruction, std::uint8_t marks) {
    auto* const m = marks_at(instruction);
    if (!m) return;
    if (!(*m & reached)) m_left.push_back(instruction);
    *m = static_cast<std::uint8_t>(*m | marks | reached);
}

/// What `row` holds before an instruction, if lui, auipc or addi before it say so.
bool control_flow_graph::constant_before(std::uint32_t instruction, unsigned row, std::uint64_t& value) {
    std::uint64_t offset = 0;
    for (unsigned back = 1; back <= constant_search && back <= instruction && m_search > 0; ++back, --m_search) {
        std::uint32_t word;
        if (!word_at(instruction - back, word)) return false;
        const auto o = decode_lane_op(word);
        if (o.kind == lane_kind::illegal) return false;
        const bool restores = o.kind == lane_kind::memory && o.rs1 == 2;  // at the end of the function
        if (o.rd != row || row == 0 || restores) continue;
        if (o.op == opcode::addi) {
            offset += signed_immediate(o);
            row = o.rs1;
            value = offset;
            if (row == 0) return true;
        } else if (o.op == opcode::lui || o.op == opcode::auipc) {
            value = signed_immediate(o) + offset + (o.op == opcode::auipc ? address_of(instruction - back) : 0);
            return true;
        } else {
            return false;
        }
    }
    return false;
}

/// How many entries the table of a jump has: compilers compare the index before they use it.
std::size_t control_flow_graph::table_size(std::uint32_t use) {
    for (unsigned back = 1; back <= table_search && back <= use && m_search > 0; ++back, --m_search) {
        std::uint32_t word;
        if (!word_at(use - back, word)) break;
        const auto o = decode_lane_op(word);
        std::uint64_t limit;
        if (o.op == opcode::bltu && constant_before(use - back, o.rs1, limit)) return limit + 1;
        if (o.op == opcode::bgeu && constant_before(use - back, o.rs2, limit)) return limit;
        if (o.kind != lane_kind::row && o.kind != lane_kind::constant && o.kind != lane_kind::relative &&
            o.kind != lane_kind::memory)
            break;
    }
    return max_entries;  // up to the first that leads nowhere
}

/// A jump through a table, as compilers make it of a switch: base + scaled index, a load, perhaps base + what was
/// loaded. Entries are taken as long as they lead to instructions near the jump; too many do no harm.
void control_flow_graph::find_table(std::uint32_t jump, unsigned row) {
    constexpr std::uint32_t near = 1 << 16;
    auto& targets = m_tables[jump];
    unsigned size = 0;
    for (unsigned back = 1; back <= table_search && back <= jump && m_search > 0; ++back, --m_search) {
        std::uint32_t word;
        if (!word_at(jump - back, word)) return;
        const auto o = decode_lane_op(word);
        if (o.kind == lane_kind::illegal) return;
        if (size == 0) {
            if (o.op == opcode::lw || o.op == opcode::lwu || o.op == opcode::ld) {
                size = o.memory.size;
                row = o.rs1;
            }
            continue;
        }
        std::uint64_t table;
        if (o.rd != row || o.kind == lane_kind::memory) continue;
        // One of the operands of the addition is the table.
        if (!constant_before(jump - back, o.rs2, table) && !constant_before(jump - back, o.rs1, table)) return;
        if (o.op == opcode::addi) table += signed_immediate(o);
        const auto entries = table_size(jump - back);
        for (std::size_t n = 0; n < entries && m_entries < max_entries; ++n, ++m_entries) {
            const auto at = table + n * size;
            std::uint32_t slot, low, high = 0;
            if (!instruction_of(at, slot) || !word_at(slot, low)) return;
            if (size == 8 && !word_at(slot + 1, high)) return;
            const auto entry = size == 8 ? std::uint64_t{high} << 32 | low
                                         : static_cast<std::uint64_t>(static_cast<std::int32_t>(low));
            std::uint32_t target;
            if (!instruction_of(entry, target) && !instruction_of(table + entry, target)) return;
            if ((target > jump ? target - jump : jump - target) > near) return;
            std::uint32_t first;
            if (!word_at(target, first) || decode_lane_op(first).kind == lane_kind::illegal) return;
            targets.push_back(target);
        }
        return;
    }
}

/// \returns whether the instruction ends a block
bool control_flow_graph::next_of(std::uint32_t instruction, successors& to) {
    std::uint32_t word;
    to.falls = to.calls = to.links = false;
    to.targets.clear();
    if (!word_at(instruction, word)) return true;
    const auto o = decode_lane_op(word);
    const auto there = address_of(instruction) + signed_immediate(o);
    std::uint32_t target;
    switch (o.kind) {
        case lane_kind::branch:
            to.falls = true;
            if (instruction_of(there, target)) to.targets.push_back(target);
            return true;
        case lane_kind::jump:
            if (o.rd != lane_registers::sink) {
                to.falls = to.links = true;
                to.calls = instruction_of(there, to.called);
            } else if (instruction_of(there, target)) {
                to.targets.push_back(target);
            }
            return true;
        case lane_kind::jump_register: {
            const bool links = o.rd != lane_registers::sink;
            to.falls = to.links = links;
            if (!links && is_link(o.rs1) && o.immediate == 0) return true;  // a return
            std::uint64_t base;
            if (constant_before(instruction, o.rs1, base) &&
                instruction_of((base + signed_immediate(o)) & ~std::uint64_t{1}, target)) {
                if (links) {
                    to.calls = true;
                    to.called = target;
                } else {
                    to.targets.push_back(target);
                }
            } else if (!links) {
                if (!m_tables.count(instruction)) find_table(instruction, o.rs1);
                to.targets = m_tables[instruction];
            }
            return true;
        }
        case lane_kind::end:
        case lane_kind::illegal: return true;
        default: to.falls = true; return false;
    }
}

void control_flow_graph::follow() {
    successors next;
    while (!m_left.empty()) {
        const auto instruction = m_left.back();
        m_left.pop_back();
        const bool last = next_of(instruction, next);
        if (last) *marks_at(instruction) |= ends;
        if (next.falls) visit(instruction + 1, last ? leader : 0);
        for (const auto t : next.targets) visit(t, leader);
        if (next.calls) visit(next.called, leader | root);
    }
}

void control_flow_graph::make_blocks() {
    std::uint32_t previous = 0;
    bool open = false;
    for (const auto& [number, p] : pages) {
        for (std::uint32_t i = 0; i < p.marks.size(); ++i) {
            const auto at = number * page_instructions + i;
            const auto m = p.marks[i];
            if (!(m & reached)) {
                open = false;
                continue;
            }
            if (!open || at != previous + 1 || (m & leader)) {
                blocks.push_back({at, at});
                blocks.back().root = m & root;
            }
            blocks.back().last = previous = at;
            open = !(m & ends);
        }
    }
    successors next;
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        auto& block = blocks[b];
        block.edges = static_cast<std::uint32_t>(edges.size());
        next_of(block.last, next);
        block.calls = next.links;
        const auto add = [&](std::uint32_t to, bool falls) {
            if (const auto n = block_at(to); n != blocks.size()) edges.push_back({b, n, falls});
        };
        if (next.falls) add(block.last + 1, true);
        std::sort(next.targets.begin(), next.targets.end());
        next.targets.erase(std::unique(next.targets.begin(), next.targets.end()), next.targets.end());
        for (const auto t : next.targets) add(t, false);
        if (!next.targets.empty()) block.target = next.targets.front();
        block.edge_end = static_cast<std::uint32_t>(edges.size());
    }
}

std::uint32_t control_flow_graph::block_at(std::uint32_t instruction) const {
    const auto found = std::lower_bound(blocks.begin(), blocks.end(), instruction,
                                        [](const basic_block& b, std::uint32_t i) { return b.first < i; });
    return static_cast<std::uint32_t>(
        found != blocks.end() && found->first == instruction ? found - blocks.begin() : blocks.end() - blocks.begin());
}

}  // namespace fabricvp::gpu
