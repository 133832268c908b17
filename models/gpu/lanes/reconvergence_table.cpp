// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/reconvergence_table.h"

#include <algorithm>
#include <cstring>

#include "gpu/lanes/block_order.h"
#include "gpu/lanes/register_use.h"

namespace fabricvp::gpu {

static std::uint32_t instruction_at(std::uint64_t pc) { return static_cast<std::uint32_t>((pc - GPU_CODE_BASE) / 4); }

reconvergence_table::reconvergence_table(const code_reader& read, std::uint64_t entry) {
    control_flow_graph graph(read, instruction_at(entry));
    const block_order order(graph);
    m_blocks = graph.blocks.size();
    m_registers = count_registers(graph);
    if (!graph.pages.empty()) {
        m_first_page = graph.pages.begin()->first;
        m_directory.resize(graph.pages.rbegin()->first - m_first_page + 1);
    }
    std::uint16_t count = 0;
    for (auto& [number, page] : graph.pages) {
        if (!page.marks.empty()) m_directory[number - m_first_page] = ++count;
        m_code.push_back({number, page.lines, std::move(page.bytes)});
    }
    m_slots.resize(std::size_t{count} * control_flow_graph::page_instructions);

    std::vector<std::uint32_t> stretch_end(graph.blocks.size());
    for (auto b = static_cast<std::uint32_t>(graph.blocks.size()); b-- > 0;) {
        const auto& block = graph.blocks[b];
        stretch_end[b] = block.last + 1;
        auto& last = at(block.last);
        last.calls = block.calls;
        for (auto e = block.edges; e < block.edge_end; ++e) {
            const auto& edge = graph.edges[e];
            const auto key = order.edge_key[e];
            if (edge.falls) {
                last.falling = key;
                // It goes on in order if nothing can lie between the two.
                if (key == order.position[b] + 1 && key == order.position[edge.to])
                    stretch_end[b] = stretch_end[edge.to];
            } else if (graph.blocks[edge.to].first == block.target) {
                last.jumping = key;
                last.target = block.target;
            } else if (key != order.position[edge.to]) {
                last.more = true;
                m_more[{block.last, graph.blocks[edge.to].first}] = key;
            }
        }
        for (auto i = block.first; i <= block.last; ++i) {
            auto& s = at(i);
            s.key = order.position[b];
            s.stretch_end = stretch_end[b];
            if (i != block.last) s.falling = s.key;
        }
    }
}

reconvergence_table::slot& reconvergence_table::at(std::uint32_t instruction) {
    const auto page = m_directory[instruction / control_flow_graph::page_instructions - m_first_page];
    return m_slots[(page - 1) * std::size_t{control_flow_graph::page_instructions} +
                   instruction % control_flow_graph::page_instructions];
}

bool reconvergence_table::matches(const code_reader& read) const {
    std::vector<std::uint8_t> now(control_flow_graph::page_bytes);
    return std::all_of(m_code.begin(), m_code.end(), [&](const code& c) {
        if (!read(c.number, now.data())) return c.bytes.empty();
        if (c.bytes.empty()) return false;
        for (auto left = c.lines; left; left &= left - 1) {
            const auto at = static_cast<std::size_t>(__builtin_ctzll(left)) * line_bytes;
            if (std::memcmp(now.data() + at, c.bytes.data() + at, line_bytes) != 0) return false;
        }
        return true;
    });
}

std::uint32_t reconvergence_table::key(std::uint64_t from, std::uint64_t pc) const {
    if (const auto* const s = find(from); s && s->key) {
        if (pc == from + 4) {
            if (s->falling) return s->falling;
        } else if (s->jumping && pc == GPU_CODE_BASE + std::uint64_t{s->target} * 4) {
            return s->jumping;
        } else if (s->more) {
            const auto found = m_more.find({instruction_at(from), instruction_at(pc)});
            if (found != m_more.end()) return found->second;
        }
    }
    // A return: as if the call had been an instruction like others.
    if (const auto* const call = find(pc - 4); call && call->calls && call->falling) return call->falling;
    return key(pc);
}

std::shared_ptr<const reconvergence_table> reconvergence_tables::find(std::uint32_t space, std::uint64_t image,
                                                                      std::uint64_t entry, const code_reader& read) {
    const auto found = std::find_if(m_kept.begin(), m_kept.end(), [&](const kept& k) {
        return k.space == space && k.image == image && k.entry == entry;
    });
    if (found != m_kept.end()) {
        std::rotate(m_kept.begin(), found, found + 1);
        if (m_kept.front().table->matches(read)) return m_kept.front().table;
        m_kept.erase(m_kept.begin());
    }
    auto table = std::make_shared<const reconvergence_table>(read, entry);
    if (table->blocks() == 0) return nullptr;
    m_kept.insert(m_kept.begin(), {space, image, entry, table});
    if (m_kept.size() > max_kept) m_kept.pop_back();
    return table;
}

}  // namespace fabricvp::gpu
