// SPDX-License-Identifier: Apache-2.0
#include "platform/watchdog.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabricvp {
namespace {

/// A hart that ought to be executing instructions.
bool should_progress(const riscv::hart& hart) { return !hart.waiting() && !hart.halted(); }

std::string state_of(const riscv::hart& hart) {
    return fmt::format("{} at pc {:#x} ({})", hart.name(), hart.pc(), hart.debug_state());
}

/// Which targets of a node owe a response: name, and for what.
std::vector<std::pair<std::string, std::string>> outstanding_targets(const node& n) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [address, target] : n.host.bus.outstanding())
        all.emplace_back(fmt::format("{}.{}", n.host.name(), target),
                         fmt::format("has not answered an access to {:#x}", address));
    return all;
}

std::string outstanding_of(const node& n) {
    std::string text;
    for (const auto& [target, what] : outstanding_targets(n)) text += fmt::format("; {} {}", target, what);
    return text;
}

void collect(const sc_core::sc_object& under, std::vector<const model*>& blocks) {
    for (const auto* child : under.get_child_objects()) {
        if (const auto* block = dynamic_cast<const model*>(child)) blocks.push_back(block);
        collect(*child, blocks);
    }
}

std::string text_of(const std::string& name, const model::wait& w, ticks now) {
    return fmt::format("{} has waited {:.6f} s for {}", name, static_cast<double>(now - w.since) / ticks_per_second,
                       w.what);
}

}  // namespace

watchdog::watchdog(const machine& hardware, ticks timeout) : m_hardware(hardware), m_timeout(timeout) {
    for (const auto& n : hardware.nodes)
        if (n) m_nodes.push_back(n.get());
    for (const auto* n : m_nodes) m_progress.resize(m_progress.size() + n->host.harts.size());
}

std::vector<watchdog::stalled> watchdog::stalls(ticks latest) const {
    std::vector<const model*> blocks;
    for (const auto* n : m_nodes) collect(*n, blocks);
    return stalls(blocks, latest);
}

std::vector<watchdog::stalled> watchdog::stalls(const std::vector<const model*>& blocks, ticks latest) {
    std::vector<stalled> found;
    for (const auto* block : blocks)
        if (auto w = block->waits(); w && w->since <= latest) found.push_back({block, std::move(*w)});
    std::stable_sort(found.begin(), found.end(),
                     [](const stalled& a, const stalled& b) { return a.wait.since < b.wait.since; });
    return found;
}

std::vector<watchdog::waiting> watchdog::present() const {
    std::vector<const model*> blocks;
    for (const auto* n : m_nodes) collect(*n, blocks);
    if (m_hardware.network) collect(*m_hardware.network, blocks);
    if (m_hardware.ethernet) collect(*m_hardware.ethernet, blocks);
    std::vector<waiting> all;
    for (const auto& s : stalls(blocks, m_hardware.timeline.now()))
        all.push_back({s.block->name(), s.wait.since, s.wait.what});
    for (const auto* n : m_nodes)
        for (const auto& [target, what] : outstanding_targets(*n)) all.push_back({target, std::nullopt, what});
    return all;
}

std::string watchdog::list_of(const std::vector<stalled>& blocks, ticks now) {
    constexpr std::size_t max = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(max, blocks.size()); ++i)
        text += (i ? "; " : "") + text_of(blocks[i].block->name(), blocks[i].wait, now);
    if (blocks.size() > max) text += fmt::format(" and {} more", blocks.size() - max);
    return text;
}

std::optional<std::string> watchdog::check(ticks now) {
    if (m_timeout == 0 || now < m_next_check) return std::nullopt;
    m_next_check = now + m_timeout / 4;
    if (now >= m_timeout)
        if (const auto stuck = stalls(now - m_timeout); !stuck.empty()) return "watchdog: " + list_of(stuck, now);
    std::size_t index = 0;
    for (const auto* n : m_nodes)
        for (const auto& hart : n->host.harts) {
            auto& p = m_progress[index++];
            const auto retired = hart->instructions.total();
            if (retired != p.instructions || !should_progress(*hart)) p = {retired, now};
            if (now - p.since >= m_timeout)
                return fmt::format("watchdog: no instruction since {:.6f} s: {}",
                                   static_cast<double>(p.since) / ticks_per_second, state_of(*hart)) +
                       outstanding_of(*n);
        }
    return std::nullopt;
}

std::pair<bool, std::string> watchdog::idle() const {
    constexpr std::size_t max = 4;  // name a few, count the rest
    bool stuck = false;
    std::size_t count = 0;
    std::string names;
    for (const auto* n : m_nodes)
        for (const auto& hart : n->host.harts) {
            stuck = stuck || should_progress(*hart);
            if (count++ < max) names += (names.empty() ? "" : ", ") + state_of(*hart);
        }
    if (count > max) names += fmt::format(" and {} more", count - max);
    for (const auto* n : m_nodes) names += outstanding_of(*n);
    const auto waiting = stalls(m_hardware.timeline.now());
    if (!waiting.empty()) names += "; " + list_of(waiting, m_hardware.timeline.now());
    return {stuck || !waiting.empty(), names};
}

}  // namespace fabricvp
