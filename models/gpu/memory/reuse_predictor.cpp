// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/reuse_predictor.h"

#include <algorithm>

namespace fabricvp::gpu {

reuse_predictor::reuse_predictor(const sc_core::sc_module_name& name, std::uint64_t history, std::size_t lines,
                                 std::size_t fetches)
    : model(name), m_history(history), m_lines(lines), m_fetches(fetches) {
    m_table.reserve(instructions);
}

reuse_predictor::instruction* reuse_predictor::find(std::uint64_t pc) {
    const auto at = std::find_if(m_table.begin(), m_table.end(), [pc](const instruction& i) { return i.pc == pc; });
    return at == m_table.end() ? nullptr : &*at;
}

void reuse_predictor::follow(unsigned fetch, std::uint64_t pc, std::uint8_t sector) {
    m_fetches[fetch] = {pc, sector};
    instruction* known = find(pc);
    if (!known) {
        const auto earlier = [](const instruction& a, const instruction& b) { return a.used < b.used; };
        known = m_table.size() < instructions ? &m_table.emplace_back()
                                              : &*std::min_element(m_table.begin(), m_table.end(), earlier);
        *known = {pc, 0, m_history};
    }
    known->used = ++m_clock;
}

bool reuse_predictor::trims(std::uint64_t pc) {
    const instruction* const known = find(pc);
    const bool trim = !known || known->unused == m_history;
    ++(trim ? trimmed : kept_whole);
    return trim;
}

/// An instruction that has left the table learns nothing.
void reuse_predictor::ends(lifetime& line, bool reuse) {
    ++(reuse ? reused : unused);
    if (instruction* const known = find(line.pc)) known->unused = reuse ? 0 : std::min(known->unused + 1, m_history);
    line = {};
}

void reuse_predictor::left(unsigned place) {
    if (m_lines[place].sector) ends(m_lines[place], false);
}

void reuse_predictor::all_left() {
    for (auto& line : m_lines)
        if (line.sector) ends(line, false);
}

void reuse_predictor::reset() {
    std::fill(m_lines.begin(), m_lines.end(), lifetime{});
    std::fill(m_fetches.begin(), m_fetches.end(), lifetime{});
    m_table.clear();
    m_clock = 0;
    model::reset();
}

}  // namespace fabricvp::gpu
