// SPDX-License-Identifier: Apache-2.0
// Launches, work-groups and accesses of a GPU that is played; see gpu_player.cpp for what goes over the fabric.
#include <algorithm>
#include <utility>

#include "gpu/replay/replica.h"
#include "gpu/replay/wavefront_player.h"

namespace fabricvp::gpu::replay {

gpu_player::gpu_player(const sc_core::sc_module_name& name, replica& owner, unsigned number, const gpu_core_params& p,
                       fabric::terminal& at)
    : model(name),
      params(p),
      clock(p.clock),
      m_owner(owner),
      m_number(number),
      m_terminal(at),
      m_lead(clock.span(p.memory.unit.latency) + clock.span(p.memory.unit.tlb.latency) +
             clock.span(p.memory.unit.l1.tag_latency)),
      m_lookup(clock.span(p.memory.unit.l1.tag_latency)),
      m_fill(clock.span(p.memory.unit.l1.fill_latency)),
      m_cycle(clock.span(1)),
      m_code(clock.span(p.instruction_cache.latency)),
      m_scalar_fetches((p.compute_units + p.compute_units_per_scalar_cache - 1) / p.compute_units_per_scalar_cache) {
    for (unsigned i = 0; i < p.compute_units; ++i) {
        m_units.push_back(std::make_unique<unit_player>());
        m_units.back()->number = i;
    }
    at.attach(*this);
    reset();
}

gpu_player::~gpu_player() = default;

void gpu_player::launch_kernel(std::uint32_t number) {
    m_terminal.kernel_launched();
    auto run = std::make_unique<run_player>();
    run->number = number;
    run->what = &m_owner.what().launches[number];
    run->areas = run->what->scratch_areas;
    run->first_stream = m_owner.first_stream(number);
    m_runs.push_back(std::move(run));
    if (!m_place.scheduled()) schedule(m_place, std::max(now(), m_next_start));
}

void gpu_player::place() {
    const auto run =
        std::find_if(m_runs.begin(), m_runs.end(), [](const auto& r) { return r->started != r->what->groups; });
    if (run == m_runs.end()) return;
    const auto& what = *(*run)->what;
    if (what.scratch_areas && (*run)->areas < what.group_wavefronts) return;  // ended() comes back
    for (std::size_t i = 0; i < m_units.size(); ++i) {
        auto& unit = *m_units[(m_next_unit + i) % m_units.size()];
        if (unit.free_slots < what.group_wavefronts * params.compute_unit.slots_of(what.lanes) ||
            unit.free_lds < what.lds_bytes)
            continue;
        m_next_unit = (m_next_unit + i + 1) % m_units.size();
        m_next_start = now() + clock.span(params.dispatcher.interval(what.group_wavefronts));
        schedule(m_place, m_next_start);
        start(**run, unit);
        return;
    }
}

void gpu_player::start(run_player& run, unit_player& unit) {
    const auto& streams = m_owner.what().streams;
    if (m_free_groups.empty()) {
        m_groups.push_back(std::make_unique<group_player>());
        m_free_groups.push_back(m_groups.back().get());
    }
    auto& g = *m_free_groups.back();
    m_free_groups.pop_back();
    g.run = &run;
    g.unit = &unit;
    g.live = g.arrived = 0;
    g.members.clear();
    ++work_groups;
    const auto number = run.started++;
    unit.free_lds -= run.what->lds_bytes;
    const auto first = run.first_stream;
    const auto mine = [&](const stream& s) { return s.launch == run.number && s.group == number; };
    for (; run.first_stream < streams.size() && mine(streams[run.first_stream]); ++run.first_stream) {
        if (m_free_wavefronts.empty()) {
            m_wavefronts.push_back(std::make_unique<wavefront_player>(*this));
            m_free_wavefronts.push_back(m_wavefronts.back().get());
        }
        auto* w = m_free_wavefronts.back();
        m_free_wavefronts.pop_back();
        const auto simd = std::min_element(unit.simd_live.begin(), unit.simd_live.end());
        ++*simd;
        unit.free_slots -= static_cast<unsigned>(params.compute_unit.slots_of(run.what->lanes));
        if (run.areas) --run.areas;
        w->group = &g;
        w->simd = static_cast<unsigned>(simd - unit.simd_live.begin());
        w->serial = ++m_started;
        g.members.push_back(w);
        ++g.live;
    }
    for (std::size_t i = 0; i < g.members.size(); ++i) g.members[i]->start(streams[first + i], now());
}

void gpu_player::ended(wavefront_player& w) {
    auto& g = *w.group;
    auto& unit = *g.unit;
    auto& run = *g.run;
    unit.free_slots += static_cast<unsigned>(params.compute_unit.slots_of(run.what->lanes));
    --unit.simd_live[w.simd];
    if (run.what->scratch_areas) ++run.areas;
    if (--g.live) return;
    for (auto* each : g.members) m_free_wavefronts.push_back(each);
    m_free_groups.push_back(&g);
    unit.free_lds += run.what->lds_bytes;
    if (!m_place.scheduled()) schedule(m_place, std::max(now(), m_next_start));
    if (++run.finished != run.what->groups) return;
    const auto number = run.number;
    m_runs.erase(std::find_if(m_runs.begin(), m_runs.end(), [&](const auto& r) { return r.get() == &run; }));
    m_owner.launch_ended(number);
}

access_player& gpu_player::take_access() {
    if (!m_free_access) {
        m_accesses.push_back(std::make_unique<access_player>());
        m_free_access = m_accesses.back().get();
    }
    auto& a = *m_free_access;
    m_free_access = a.next_free;
    return a;
}

void gpu_player::issue(unit_player& unit, access_player& a, const std::vector<dependency>& dependencies) {
    ++a.open;  // so that it does not end before all are on their way
    for (const auto& n : dependencies) {
        const pending_dependency one{&a, n.what};
        if (n.walk && !m_owner.state.walks[n.walk])
            request_after_walk(unit, one, n.walk);
        else
            request_dependency(unit, one, m_lead);
    }
    dependency_arrived(a, now());
}

void gpu_player::dependency_arrived(access_player& a, ticks ready) {
    a.earliest = std::max(a.earliest, ready);
    if (--a.open) return;
    if (a.earliest > now() + m_fill) {
        timeline().schedule(a.due, a.earliest);
    } else {
        a.finish();
    }
}

void access_player::finish() { wavefront->done(*this, earliest); }

void gpu_player::done(access_player& a) {
    auto& unit = *a.wavefront->group->unit;
    a.next_free = m_free_access;
    m_free_access = &a;
    if (a.code) return;
    --unit.accesses;
    // One that goes on may be done at once, and would come here again, deeper for each that is held.
    if (std::exchange(unit.resuming, true)) return;
    while (!unit.held.empty() && unit.accesses < params.memory.unit.queue) {
        auto* w = unit.held.front();
        unit.held.pop_front();
        w->resume();
    }
    unit.resuming = false;
}

bool gpu_player::fetches_code(const std::vector<dependency>& dependencies) const {
    return dependencies.size() == 1 && dependencies[0].what &&
           is_code(m_owner.what().transactions[dependencies[0].what]);
}

unsigned& gpu_player::fetches_of(const unit_player& u, bool scalar) {
    return scalar ? m_scalar_fetches[u.number / params.compute_units_per_scalar_cache]
                  : const_cast<unit_player&>(u).fetches;
}

/// A need goes to L1, `lead` before its request may leave.
void gpu_player::request_dependency(unit_player& unit, const pending_dependency& n, ticks lead) {
    if (n.what == 0) return dependency_arrived(*n.access, now());
    const auto& t = m_owner.what().transactions[n.what];
    const auto state = m_owner.state.transactions[n.what];
    if (t.fetch && state == replay_state::completed) return dependency_arrived(*n.access, now());
    if (t.fetch && state) return m_slots[state - 1]->waiting.push_back(n);
    if (is_code(t)) {
        auto& s = begin_transaction(n.what, &unit, now());
        s.fetch = s.code = true;
        return s.waiting.push_back(n);
    }
    if (!in_order(n, t)) return;
    if (!unit.port.empty() || !try_send(unit, n, lead)) unit.port.push_back(n);
}

/// \returns false if there is no room
bool gpu_player::try_send(unit_player& unit, const pending_dependency& n, ticks lead) {
    const auto& t = m_owner.what().transactions[n.what];
    if (t.fetch) {
        const auto state = m_owner.state.transactions[n.what];
        if (state == replay_state::completed) {
            dependency_arrived(*n.access, now());
            return true;
        }
        if (state) {
            m_slots[state - 1]->waiting.push_back(n);
            return true;
        }
        const bool scalar = is_scalar(t);
        auto& fetches = fetches_of(unit, scalar);
        if (fetches >= (scalar ? params.memory.scalar_cache : params.memory.unit.l1).fetches()) return false;
        ++fetches;
        auto& s = begin_transaction(n.what, &unit, std::max(now() + lead, unit.port_free));
        s.fetch = true;
        s.scalar = scalar;
        s.waiting.push_back(n);
    } else {
        if (unit.bypasses >= params.memory.unit.outstanding_bypasses) return false;
        ++unit.bypasses;
        begin_transaction(n.what, &unit, std::max(now() + lead, unit.port_free)).access = n.access;
    }
    unit.port_free = std::max(now() + lead, unit.port_free) + m_cycle;
    return true;
}

void gpu_player::drain_port(unit_player& unit) {
    while (!unit.port.empty()) {
        const auto n = unit.port.front();
        if (!try_send(unit, n, m_lookup)) return;
        unit.port.pop_front();
    }
}

/// A wavefront's accesses to one line stay in order around writes. \returns false if it is parked
bool gpu_player::in_order(const pending_dependency& n, const transaction& t) {
    const bool writes = t.kind != access_kind::read;
    if (!writes && m_order.empty()) return true;
    const auto key = t.line / line_bytes ^ std::uint64_t{n.access->wavefront->serial} << 40;
    const auto at = m_order.find(key);
    if (at != m_order.end() && at->second.access != n.access) {
        at->second.parked.push_back(n);
        return false;
    }
    if (writes) {
        auto& o = at != m_order.end() ? at->second : m_order[key];
        o.access = n.access;
        ++o.writes;
    }
    return true;
}

void gpu_player::leave_order(unit_player& unit, access_player& a, const transaction& t) {
    const auto at = m_order.find(t.line / line_bytes ^ std::uint64_t{a.wavefront->serial} << 40);
    if (at == m_order.end() || --at->second.writes) return;
    const auto parked = std::move(at->second.parked);
    m_order.erase(at);
    std::deque<pending_dependency> again;  // they came before all that waits
    for (const auto& n : parked)
        if (in_order(n, m_owner.what().transactions[n.what])) again.push_back(n);
    unit.port.insert(unit.port.begin(), again.begin(), again.end());
}

}  // namespace fabricvp::gpu::replay
