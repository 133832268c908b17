// SPDX-License-Identifier: Apache-2.0
// The basic blocks of a kernel, from its machine code. Calls go on behind the call; what is called is a root of its
// own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "gpu/lanes/lane_op.h"

namespace fabricvp::gpu {

/// Reads the 4 KiB page `number` (counted from GPU_CODE_BASE) of an image. \returns false if it cannot be read
using code_reader = std::function<bool(std::uint32_t number, std::uint8_t* to)>;

/// Where an edge leads, by index of the block.
struct control_flow_edge {
    std::uint32_t from, to;
    bool falls;  ///< to the next instruction
};

/// Instructions are numbered from GPU_CODE_BASE on, four bytes each.
struct basic_block {
    std::uint32_t first, last;              ///< instructions
    std::uint32_t edges = 0, edge_end = 0;  ///< of control_flow_graph::edges
    std::uint32_t target = 0;               ///< of the direct jump or branch at its end
    bool root = false;                      ///< an entry, or something that is called
    bool calls = false;                     ///< ends with a call
};

/// Code is the guest's, and may be anything: what is looked at is bounded by pages, whatever jumps where.
class control_flow_graph {
public:
    static constexpr std::uint32_t page_bytes = 4096, page_instructions = page_bytes / 4, max_pages = 64;
    struct page {
        std::vector<std::uint8_t> bytes;
        std::vector<std::uint8_t> marks;  ///< by instruction
        std::uint64_t lines = 0;          ///< that were looked at, bit n for the n-th 64 bytes
    };

    /// Follows the code from an instruction on. Blocks are in the order of their addresses.
    control_flow_graph(const code_reader& read, std::uint32_t entry);

    std::vector<basic_block> blocks;
    std::vector<control_flow_edge> edges;  ///< sorted by block
    std::map<std::uint32_t, page> pages;   ///< by number
    /// Index of the block that begins at an instruction, or blocks.size().
    std::uint32_t block_at(std::uint32_t instruction) const;

private:
    struct successors {
        bool falls = false, links = false;
        std::vector<std::uint32_t> targets;
        std::uint32_t called = 0;
        bool calls = false;
    };
    page* page_of(std::uint32_t instruction);
    bool word_at(std::uint32_t instruction, std::uint32_t& word);
    std::uint8_t* marks_at(std::uint32_t instruction);
    void visit(std::uint32_t instruction, std::uint8_t marks);
    bool next_of(std::uint32_t instruction, successors& to);
    void find_table(std::uint32_t jump, unsigned row);
    std::size_t table_size(std::uint32_t use);
    bool constant_before(std::uint32_t instruction, unsigned row, std::uint64_t& value);
    void follow();
    void make_blocks();

    const code_reader& m_read;
    std::vector<std::uint32_t> m_left;                             // instructions to follow from
    std::map<std::uint32_t, std::vector<std::uint32_t>> m_tables;  // where jumps through tables lead
    std::size_t m_entries = 0;                                     // of them
    std::uint32_t m_search = 1 << 18;                              // instructions that may be looked at for constants
};

}  // namespace fabricvp::gpu
