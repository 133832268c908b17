// SPDX-License-Identifier: Apache-2.0
#include "gpu/replay/player.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "gpu/replay/recording_bytes.h"
#include "gpu/replay/wavefront_player.h"

namespace fabricvp::gpu::replay {

player::player(const sc_core::sc_module_name& name, const replay_params& replay_params,
               const std::vector<std::string>& names, const std::vector<gpu_core_params>& gpus,
               fabric::interconnect& fabric)
    : model(name), m_what(replay_params.what), m_fabric(fabric) {
    auto& r = *m_what;
    r.check(replay_params.gpus);
    std::stable_sort(r.streams.begin(), r.streams.end(), [](const stream& a, const stream& b) {
        return std::tie(a.launch, a.group, a.wavefront) < std::tie(b.launch, b.group, b.wavefront);
    });
    const auto same = [](const stream& a, const stream& b) {
        return std::tie(a.launch, a.group, a.wavefront) == std::tie(b.launch, b.group, b.wavefront);
    };
    // More wavefronts than the work-group says would not fit its compute unit.
    if (std::adjacent_find(r.streams.begin(), r.streams.end(), same) != r.streams.end()) throw_corrupted();
    m_first_stream.resize(r.launches.size());
    for (std::uint32_t i = static_cast<std::uint32_t>(r.streams.size()); i-- > 0;)
        m_first_stream[r.streams[i].launch] = i;
    const auto replicas = static_cast<unsigned>(gpus.size()) / replay_params.gpus;
    std::vector<replica*> replica_at(gpus.size());
    for (unsigned t = 0; t < replicas; ++t) {
        std::vector<unsigned> terminals;
        for (unsigned g = 0; g < replay_params.gpus; ++g)
            terminals.push_back(replay_params.placement == replica_placement::contiguous ? t * replay_params.gpus + g
                                                                                         : g * replicas + t);
        m_replicas.push_back(std::make_unique<replica>(*this, terminals));
        for (const auto terminal : terminals) replica_at[terminal] = m_replicas.back().get();
    }
    for (unsigned i = 0; i < gpus.size(); ++i)
        m_gpus.push_back(
            std::make_unique<gpu_player>(names[i].c_str(), *replica_at[i], i, gpus[i], *fabric.terminals[i]));
    reset();
}

void player::start() {
    for (auto& t : m_replicas) t->start();
}

void player::replica_ended() {
    if (on_end && std::all_of(m_replicas.begin(), m_replicas.end(), [](const auto& t) { return t->ended(); })) on_end();
}

double player::progress() const {
    const auto all = static_cast<double>((m_what->transactions.size() - 1) * m_replicas.size());
    return all > 0 ? static_cast<double>(since_reset().responses) / all : 1;
}

player::totals player::counted() const {
    totals t;
    for (const auto& g : m_gpus) {
        t.requests += g->requests.total();
        t.responses += g->responses.total();
        t.unexpected += g->unexpected.total();
        t.corrupt += g->corrupt.total();
        t.failed += g->failed.total();
    }
    return t;
}

player::totals player::since_reset() const {
    const auto t = counted();
    const auto& before = m_at_reset;
    return {t.requests - before.requests, t.responses - before.responses, t.unexpected - before.unexpected,
            t.corrupt - before.corrupt, t.failed - before.failed};
}

std::string player::integrity_error() const {
    const auto [asked, ended, unexpected, bad, lost] = since_reset();
    if (asked != ended) return fmt::format("{} of {} transactions were never answered", asked - ended, asked);
    if (unexpected) return fmt::format("{} packets came twice or went astray", unexpected);
    if (bad) return fmt::format("{} of {} transactions brought other bytes than were sent", bad, asked);
    if (const auto n = m_fabric.count_in_flight()) return fmt::format("{} packets vanished", n);
    if (lost) return fmt::format("{} of {} transactions failed on a dead link or switch", lost, asked);
    return {};
}

std::optional<model::wait> player::waits() const {
    std::optional<ticks> since;
    for (const auto& t : m_replicas)
        if (const auto one = t->waits_since(); one && (!since || *one < *since)) since = one;
    if (!since) return std::nullopt;
    unsigned in_flight = 0;
    for (const auto& g : m_gpus) in_flight += g->in_flight();
    return wait{*since, fmt::format("launches to end; {} transactions are under way", in_flight)};
}

void player::reset() {
    for (auto& t : m_replicas) t->reset();
    m_at_reset = counted();
    model::reset();
}

}  // namespace fabricvp::gpu::replay
