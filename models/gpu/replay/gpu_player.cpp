// SPDX-License-Identifier: Apache-2.0
// What a GPU that is played sends over the fabric, and what it answers.
#include "gpu/replay/gpu_player.h"

#include <algorithm>

#include "fabric/signature.h"
#include "gpu/replay/replica.h"
#include "gpu/replay/wavefront_player.h"

namespace fabricvp::gpu::replay {

gpu_player::slot& gpu_player::begin_transaction(transaction_id what, unit_player* unit, ticks departure) {
    if (m_free_slots.empty()) {
        m_slots.push_back(std::make_unique<slot>(*this, static_cast<std::uint32_t>(m_slots.size())));
        m_free_slots.push_back(m_slots.back().get());
    }
    auto& s = *m_free_slots.back();
    m_free_slots.pop_back();
    s.what = what;
    s.unit = unit;
    s.fetch = s.scalar = s.code = false;
    s.access = nullptr;
    s.walk = 0;
    s.waiting.clear();
    s.tag = (m_uses++ % ((1u << (32 - slot_bits)) - 1)) << slot_bits | s.number;
    m_owner.state.transactions[what] = s.number + 1;
    ++requests;
    ++m_in_flight;
    schedule(s.departure, departure);
    return s;
}

void gpu_player::send_request(slot& s) {
    const auto& t = m_owner.what().transactions[s.what];
    const auto p = fabric::make_packet();
    p->kind = t.kind;
    p->destination = static_cast<std::uint16_t>(m_owner.terminal(gpu::where(t.line) - GPU_PA_GPU0));
    p->tag = s.tag;
    p->epoch = m_epoch;
    p->line = t.line;
    if (t.kind == access_kind::read) {
        p->needed_sectors = t.sectors;
        p->sectored = t.fetch && params.memory.unit.l1.sectored;
        p->offset = t.offset;
        p->read_critical = t.read_critical;
    } else if (t.kind == access_kind::write) {
        p->byte_mask = ~std::uint64_t{0};
        fabric::sign(*p, m_number, p->destination);
    } else {
        p->size = 8;
        if (t.operands == line_bytes) {
            p->operands = static_cast<std::uint8_t>(line_bytes / p->size);
            p->needed_sectors = t.sectors;
        }
    }
    p->set_request(m_terminal.format, t.page_table, t.operands);
    m_terminal.send(p);
}

transaction_id gpu_player::transaction_with_tag(std::uint32_t tag) const {
    const auto n = tag & ((1u << slot_bits) - 1);
    return n < m_slots.size() && m_slots[n]->tag == tag ? m_slots[n]->what : 0;
}

void gpu_player::packet_received(const fabric::packet_ptr& p) {
    if (fabric::is_response(p->type))
        finish(p);
    else
        serve(p);
}

void gpu_player::serve(const fabric::packet_ptr& p) {
    const auto what = m_owner.transaction_with_tag(p->source, p->tag);
    if (!what) ++unexpected;
    if (p->kind == access_kind::write && p->status == fabric::access_status::ok &&
        !fabric::intact(*p, p->source, m_number, 0xf))
        ++corrupt;
    if (m_free_services.empty()) {
        m_services.push_back(std::make_unique<service>(*this));
        m_free_services.push_back(m_services.back().get());
    }
    auto& s = *m_free_services.back();
    m_free_services.pop_back();
    s.packet = p;
    schedule_in(s.end, clock.span(m_owner.what().transactions[what].service));
}

void gpu_player::respond(service& s) {
    const auto p = std::move(s.packet);
    m_free_services.push_back(&s);
    ++incoming_requests;
    if (p->kind == access_kind::read && p->status == fabric::access_status::ok) {
        fabric::sign(*p, p->source, m_number);
        p->valid_sectors = p->sectored ? p->needed_sectors : 0xf;
    } else if (p->operands) {
        p->valid_sectors = p->needed_sectors;
    }
    p->make_response(m_terminal.format);
    m_terminal.send(p);
}

void gpu_player::finish(const fabric::packet_ptr& p) {
    if (p->epoch != m_epoch) return;
    const auto what = transaction_with_tag(p->tag);
    if (!what) {
        ++unexpected;
        return;
    }
    auto& s = *m_slots[p->tag & ((1u << slot_bits) - 1)];
    const auto& t = m_owner.what().transactions[what];
    s.tag = no_tag;
    ++responses;
    --m_in_flight;
    latency.add(now() - p->injected_at);
    if (p->status != fabric::access_status::ok)
        ++failed;
    else if (t.kind == access_kind::read && ((!t.page_table && t.sectors & ~p->valid_sectors) ||
                                             !fabric::intact(*p, m_number, p->source, p->valid_sectors)))
        ++corrupt;
    m_owner.state.transactions[what] = replay_state::completed;
    if (s.walk) {
        auto& w = *m_walks.at(s.walk);
        const auto& steps = m_owner.what().walks[s.walk].steps;
        schedule_in(w.next,
                    clock.span(++w.step < steps.size() ? steps[w.step].delay : m_owner.what().walks[s.walk].tail));
        m_free_slots.push_back(&s);
        return;
    }
    auto& unit = *s.unit;
    if (s.fetch) {
        if (!s.code) --fetches_of(unit, s.scalar);
        const auto waiting = std::move(s.waiting);
        s.waiting = {};
        const bool scalar = s.scalar, code = s.code;
        m_free_slots.push_back(&s);
        for (const auto& n : waiting) dependency_arrived(*n.access, now() + (code ? m_code : m_fill));
        if (code) return;
        if (scalar) {
            const auto first =
                unit.number / params.compute_units_per_scalar_cache * params.compute_units_per_scalar_cache;
            for (auto u = first; u < std::min(first + params.compute_units_per_scalar_cache, params.compute_units); ++u)
                drain_port(*m_units[u]);
            return;
        }
    } else {
        --unit.bypasses;
        auto& a = *s.access;
        m_free_slots.push_back(&s);
        if (t.kind != access_kind::read) leave_order(unit, a, t);
        dependency_arrived(a, t.kind == access_kind::write ? now() : now() + m_fill);
    }
    drain_port(unit);
}

void gpu_player::request_after_walk(unit_player& unit, const pending_dependency& n, walk_id id) {
    auto& w = m_walks[id];
    if (w) return w->waiting.emplace_back(&unit, n), void();
    if (m_free_walks.empty()) m_free_walks.push_back(std::make_unique<active_walk>(*this));
    w = std::move(m_free_walks.back());
    m_free_walks.pop_back();
    w->what = id;
    w->step = 0;
    w->waiting.clear();
    w->waiting.emplace_back(&unit, n);
    if (m_walkers < params.memory.gmmu.walkers)
        begin_walk(*w);
    else
        m_walk_queue.push_back(w.get());
}

void gpu_player::begin_walk(active_walk& w) {
    ++walks;
    ++m_walkers;
    schedule_in(w.next, m_lead + clock.span(m_owner.what().walks[w.what].steps.front().delay));
}

void gpu_player::step_walk(active_walk& w) {
    const auto& steps = m_owner.what().walks[w.what].steps;
    if (w.step == steps.size()) return end_walk(w);
    begin_transaction(steps[w.step].read, nullptr, now()).walk = w.what;
}

void gpu_player::end_walk(active_walk& w) {
    m_owner.state.walks[w.what] = true;
    --m_walkers;
    if (!m_walk_queue.empty()) {
        auto* next = m_walk_queue.front();
        m_walk_queue.pop_front();
        begin_walk(*next);
    }
    const auto at = m_walks.find(w.what);
    auto ended = std::move(at->second);
    m_walks.erase(at);
    for (const auto& [unit, n] : ended->waiting) request_dependency(*unit, n, m_lookup);
    m_free_walks.push_back(std::move(ended));
}

void gpu_player::reset() {
    for (auto& w : m_wavefronts) w->stop();
    m_runs.clear();
    m_free_groups.clear();
    for (auto& g : m_groups) m_free_groups.push_back(g.get());
    m_free_wavefronts.clear();
    for (auto& w : m_wavefronts) m_free_wavefronts.push_back(w.get());
    for (auto& u : m_units) {
        const auto number = u->number;
        *u = unit_player{};
        u->number = number;
        u->simd_free.assign(params.compute_unit.simd_units, 0);
        u->simd_live.assign(params.compute_unit.simd_units, 0);
        u->free_slots = static_cast<unsigned>(params.wavefront_slots());
        u->free_lds = params.compute_unit.lds.size;
    }
    std::fill(m_scalar_fetches.begin(), m_scalar_fetches.end(), 0);
    m_next_unit = 0;
    m_next_start = 0;
    cancel(m_place);
    m_walks.clear();
    m_walk_queue.clear();
    m_walkers = 0;
    m_order.clear();
    m_free_slots.clear();
    for (auto& s : m_slots) {
        s->tag = no_tag;
        cancel(s->departure);
        m_free_slots.push_back(s.get());
    }
    m_free_services.clear();
    for (auto& s : m_services) {
        cancel(s->end);
        s->packet = nullptr;
        m_free_services.push_back(s.get());
    }
    m_free_access = nullptr;
    for (auto& a : m_accesses) {
        cancel(a->due);
        a->next_free = m_free_access;
        m_free_access = a.get();
    }
    m_in_flight = 0;
    ++m_epoch;
    model::reset();
}

}  // namespace fabricvp::gpu::replay
