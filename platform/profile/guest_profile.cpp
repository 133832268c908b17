// SPDX-License-Identifier: Apache-2.0
#include "platform/profile/guest_profile.h"

namespace fabricvp {

guest_profile::guest_profile(std::vector<program> programs, const std::vector<gpu>& gpus)
    : m_programs(std::move(programs)) {
    for (const auto& p : m_programs) {
        auto d = std::make_unique<domain>([this, &p] { return candidates(p); });
        for (auto* const h : p.harts) d->harts.push_back(std::make_unique<hart_profile>(*h, d->code, m_stacks));
        m_domains.push_back(std::move(d));
    }
    for (const auto& g : gpus) m_gpus.push_back(std::make_unique<gpu_profile>(*g.core, g.name, m_files, m_stacks));
}

guest_profile::~guest_profile() = default;

std::vector<debug_file*> guest_profile::candidates(const program& p) {
    auto all = m_files.named();
    for (const auto& path : p.files())
        if (auto* const f = m_files.find(path)) all.push_back(f);
    return all;
}

void guest_profile::start_samples(ticks period, ticks now) {
    m_when = {period, now};
    for (auto& d : m_domains)
        for (auto& h : d->harts) h->sample(m_when);
    for (auto& g : m_gpus) g->sample(m_when);
}

void guest_profile::count_executions() {
    m_counts_executions = true;
    for (auto& g : m_gpus) g->count_executions();
}

std::map<std::string, std::uint64_t> guest_profile::stacks(ticks now) {
    for (auto& d : m_domains)
        for (auto& h : d->harts) h->settle(now);
    auto all = m_stacks;
    for (const auto& g : m_gpus) g->add_present(all, now);
    return all.folded();
}

execution_counts guest_profile::executions(const std::vector<const execution_table*>& others) {
    execution_counts counts;
    for (std::size_t i = 0; i < m_domains.size(); ++i) {
        const auto files = candidates(m_programs[i]);
        for (auto* const f : files) counts.add_file(*f);
        const auto of_physical = [&](std::uint64_t physical) -> debug_file* {
            for (auto* const f : files)
                if (f->virtual_address(physical)) return f;
            return nullptr;
        };
        for (const auto& h : m_domains[i]->harts) h->report(counts, of_physical);
    }
    for (const auto& g : m_gpus) g->report(counts);
    for (const auto* const other : others)
        for (const auto& [path, executed] : *other) {
            auto& file = m_files.open(path);
            counts.add_file(file);
            for (const auto& [address, times] : executed) counts.add(file, address, times);
        }
    return counts;
}

}  // namespace fabricvp
