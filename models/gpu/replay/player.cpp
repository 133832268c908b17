// SPDX-License-Identifier: Apache-2.0
#include "gpu/replay/player.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "gpu/replay/recording_bytes.h"
#include "gpu/replay/wavefront_player.h"

namespace fabricvp::gpu::replay {

player::player(const sc_core::sc_module_name& name, std::shared_ptr<recording> what, const std::vector<std::string>& names,
               const std::vector<gpu_core_params>& gpus, fabric::interconnect& fabric)
    : model(name), m_what(std::move(what)), m_fabric(fabric) {
    auto& r = *m_what;
    r.check(static_cast<unsigned>(gpus.size()));
    std::stable_sort(r.streams.begin(), r.streams.end(), [](const stream& a, const stream& b) {
        return std::tie(a.launch, a.group, a.wavefront) < std::tie(b.launch, b.group, b.wavefront);
    });
    m_first_stream.resize(r.launches.size());
    for (std::uint32_t i = static_cast<std::uint32_t>(r.streams.size()); i-- > 0;) m_first_stream[r.streams[i].launch] = i;
    for (unsigned i = 0; i < gpus.size(); ++i)
        m_gpus.push_back(std::make_unique<gpu_player>(names[i].c_str(), *this, i, gpus[i], *fabric.terminals[i]));
    reset();
}

void player::start() {
    m_since = now();
    next();
}

/// Waits for the launches that the host waits for, then for the host.
void player::next() {
    if (m_at == m_what->host.size() || m_act.scheduled()) return;
    const auto& e = m_what->host[m_at];
    if (!std::all_of(e.after.begin(), e.after.end(), [&](auto l) { return m_finished[l]; })) return;
    schedule(m_act, std::max(now(), m_since) + e.delay);
}

void player::launch_ended(std::uint32_t launch) {
    m_finished[launch] = true;
    m_since = now();
    next();
}

void player::act() {
    const auto& e = m_what->host[m_at++];
    m_since = now();
    if (e.what == host_event::action::launch) {
        ++launches;
        m_gpus[m_what->launches[e.number].gpu]->launch_kernel(e.number);
        return next();
    }
    m_ended = true;
    if (on_end) on_end();
}

double player::progress() const {
    double ended = 0;
    for (const auto& g : m_gpus) ended += static_cast<double>(g->responses.total());
    const auto all = static_cast<double>(m_what->transactions.size() - 1);
    return all > 0 ? ended / all : 1;
}

std::string player::complaint() const {
    std::uint64_t unexpected = 0, bad = 0, lost = 0, asked = 0, ended = 0;
    for (const auto& g : m_gpus) {
        unexpected += g->unexpected.total();
        bad += g->corrupt.total();
        lost += g->failed.total();
        asked += g->requests.total();
        ended += g->responses.total();
    }
    if (asked != ended) return fmt::format("{} of {} transactions were never answered", asked - ended, asked);
    if (unexpected) return fmt::format("{} packets came twice or went astray", unexpected);
    if (bad) return fmt::format("{} of {} transactions brought other bytes than were sent", bad, asked);
    if (const auto n = m_fabric.packets_on_their_way()) return fmt::format("{} packets vanished", n);
    if (lost) return fmt::format("{} of {} transactions failed on a dead link or switch", lost, asked);
    return {};
}

std::optional<model::wait> player::waits() const {
    unsigned under_way = 0;
    for (const auto& g : m_gpus) under_way += g->under_way();
    if (m_ended || m_act.scheduled()) return std::nullopt;
    return wait{m_since, fmt::format("launches to end; {} transactions are under way", under_way)};
}

void player::reset() {
    cancel(m_act);
    m_at = 0;
    m_since = 0;
    m_ended = false;
    m_finished.assign(m_what->launches.size(), false);
    state.transactions.assign(m_what->transactions.size(), 0);
    state.walks.assign(m_what->walks.size(), false);
    model::reset();
}

}  // namespace fabricvp::gpu::replay
