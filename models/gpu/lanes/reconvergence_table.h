// SPDX-License-Identifier: Apache-2.0
// What the schedule of lanes asks about a kernel's code: which of two places comes first, how far a group runs before
// that may change.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "abi/gpu_apertures.h"
#include "gpu/lanes/control_flow_graph.h"

namespace fabricvp::gpu {

/// Made of the code as it is when a dispatch starts. Keys only say who goes first: if code changes under a running
/// dispatch, lanes may meet later than they could, and nothing else.
class reconvergence_table {
public:
    /// \param entry program counter in the code aperture
    reconvergence_table(const code_reader& read, std::uint64_t entry);

    /// Whether the pages that it was made of still read the same.
    bool matches(const code_reader& read) const;

    /// Key of a place: lanes with smaller keys run first. 0 if nothing is known of it.
    std::uint32_t key(std::uint64_t pc) const {
        const auto* const s = find(pc);
        return s ? s->key : 0;
    }
    /// Key of a lane that came from the instruction at `from`.
    std::uint32_t key(std::uint64_t from, std::uint64_t pc) const;
    /// First address behind `pc` where a group that goes on without a jump may have to wait for others.
    std::uint64_t stretch_end(std::uint64_t pc) const {
        const auto* const s = find(pc);
        return s && s->key ? GPU_CODE_BASE + std::uint64_t{s->stretch_end} * 4 : (pc | 63) + 1;
    }
    std::size_t blocks() const { return m_blocks; }
    /// See count_registers().
    std::uint32_t registers() const { return m_registers; }

private:
    struct slot {
        std::uint32_t key = 0;  ///< of who is here, or comes here by a jump that the code does not tell
        std::uint32_t stretch_end = 0;
        std::uint32_t falling = 0;  ///< key of who goes on behind it
        std::uint32_t jumping = 0, target = 0;
        bool calls = false;
        bool more = false;  ///< m_more has something of it
    };
    struct code {
        std::uint32_t number;
        std::uint64_t lines;  ///< that matter
        std::vector<std::uint8_t> bytes;
    };
    const slot* find(std::uint64_t pc) const {
        const auto instruction = (pc - GPU_CODE_BASE) / 4;
        const auto page = instruction / control_flow_graph::page_instructions - m_first_page;
        if (page >= m_directory.size() || m_directory[page] == 0) return nullptr;
        return &m_slots[(m_directory[page] - 1) * std::size_t{control_flow_graph::page_instructions} +
                        instruction % control_flow_graph::page_instructions];
    }
    slot& at(std::uint32_t instruction);

    std::vector<code> m_code;
    std::uint64_t m_first_page = 0;
    std::vector<std::uint16_t> m_directory;  // by page: number of its slots, from 1 on; 0: none
    std::vector<slot> m_slots;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> m_more;  // back edges of jumps through tables
    std::size_t m_blocks = 0;
    std::uint32_t m_registers = 0;
};

/// Tables of the kernels that were launched last.
class reconvergence_tables {
public:
    /// The table of the code that starts at `entry`; made anew if what it was made of has changed. Null if the code
    /// cannot be read. \param image, space where the code aperture lies
    std::shared_ptr<const reconvergence_table> find(std::uint32_t space, std::uint64_t image, std::uint64_t entry,
                                                    const code_reader& read);
    void clear() { m_kept.clear(); }

private:
    static constexpr std::size_t max_kept = 16;
    struct kept {
        std::uint32_t space;
        std::uint64_t image, entry;
        std::shared_ptr<const reconvergence_table> table;
    };
    std::vector<kept> m_kept;  // the last used one in front
};

}  // namespace fabricvp::gpu
