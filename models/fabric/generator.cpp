// SPDX-License-Identifier: Apache-2.0
#include "fabric/generator.h"

#include <algorithm>
#include <cmath>

#include "abi/gpu_apertures.h"
#include "base/random_streams.h"
#include "fabric/signature.h"

namespace fabricvp::fabric {

namespace {

constexpr unsigned slot_bits = 20;  // of a tag; the rest counts the slot's uses

}  // namespace

void generator_params::describe(parameter_visitor& v) {
    v.choice("pattern", pattern,
             "destinations: random, one more often than others, the next one, all in turns, the transposed "
             "place of a "
             "square, four neighbours on a torus in turns, or the partner in the other half, each half in its phases");
    v.field("hot_spot", hot_spot, between{0, max_terminals - 1}, "terminal that gets more");
    v.field("hot_share", hot_share, between{0, 1}, "share of the requests that go to the hot spot");
    v.field("requests", requests, between{0, 1e15}, "requests that are sent; 0: without end");
    v.field("outstanding", outstanding, between{1, 1e6}, "most requests under way");
    v.field("interval", interval, between{0, 1e12},
            "mean time from one request to the next; 0 ps: as soon as one may be under way");
    v.field("random_intervals", random_intervals, "intervals are exponentially distributed; otherwise all the same");
    v.field("burst", burst, between{0, 1e12}, "requests after which it pauses; 0: never");
    v.field("pause", pause, between{0, 1e15}, "from the last request of a burst to the next one's first");
    v.field("phase", phase, between{1, 1e15},
            "alternating: for how long one half of the terminals sends before the other does");
    v.field("one_sector", one_sector, between{0, 1},
            "share of the reads that need one 16-byte sector of their line; the others need all");
    v.field("writes", writes, between{0, 1}, "share of the requests that write a line");
    v.field("page_tables", page_tables, between{0, 1}, "share of the reads that are page-table reads");
    v.field("atomics", atomics, between{0, 1},
            "share of the writes that are atomics on 8 bytes, which are not performed");
    v.field("span", span, between{64, 1e12}, "memory of each peer from its start on that requests go to");
    v.field("service", service, between{0, 1e12}, "time that it takes to answer a request of another");
    v.field("start", start, between{0, 1e15}, "of the first request");
    v.field("seed", seed, "seed of its choices; 0: follows from simulation.seed and the block's path");
}

generator::generator(const sc_core::sc_module_name& name, const generator_params& t, const terminal_params& p,
                     unsigned n, const packet_format& f, const port_node* l)
    : terminal(name, p, n, f, l), traffic(t), m_random(block_seed(*this, t.seed)) {
    attach(*this);
}

void generator::set_peers(const std::vector<unsigned>& participants, unsigned first_generator) {
    m_first_generator = first_generator;
    m_first_half = number < participants[participants.size() / 2];
    m_targets.clear();
    for (const auto t : link::partners(traffic.pattern, participants, number))
        if (reaches(t)) m_targets.push_back(static_cast<std::uint16_t>(t));
}

void generator::begin() {
    if (m_targets.empty()) return;
    m_next_time = now() + traffic.start;
    schedule(m_tick, m_next_time);
}

void generator::tick() { pump(); }

/// Moves the next request's time out of the other half's phase, and looks whether it has come.
bool generator::may_send() {
    if (traffic.pattern == traffic_pattern::alternating) {
        const auto at = std::max(m_next_time, now());
        const auto phase = at / traffic.phase;
        if ((phase % 2 == 0) != m_first_half) m_next_time = (phase + 1) * traffic.phase;
    }
    if (m_next_time <= now()) return true;
    if (!m_tick.scheduled()) schedule(m_tick, m_next_time);
    return false;
}

void generator::pump() {
    while (m_in_flight < traffic.outstanding && (traffic.requests == 0 || m_sent < traffic.requests)) {
        if (!may_send()) return;
        send_one();
        if (traffic.burst && ++m_burst == traffic.burst) {
            m_burst = 0;
            m_next_time = now() + traffic.pause;
            continue;
        }
        if (traffic.interval == 0) continue;
        const double u = 1.0 - static_cast<double>(m_random() >> 11) * 0x1p-53;
        m_next_time += traffic.random_intervals
                           ? static_cast<ticks>(-std::log(u) * static_cast<double>(traffic.interval.value))
                           : traffic.interval.value;
    }
}

unsigned generator::pick() {
    switch (traffic.pattern) {
        case traffic_pattern::hot_spot:
            if (std::find(m_targets.begin(), m_targets.end(), traffic.hot_spot) != m_targets.end() &&
                chance(traffic.hot_share))
                return static_cast<unsigned>(traffic.hot_spot);
            [[fallthrough]];
        case traffic_pattern::uniform: return m_targets[(m_random() >> 32) * m_targets.size() >> 32];
        default: return m_targets[m_next_target++ % m_targets.size()];
    }
}

void generator::send_one() {
    const auto p = make_packet();
    p->destination = static_cast<std::uint16_t>(pick());
    p->line = (std::uint64_t{GPU_PA_GPU0} + p->destination) << GPU_PA_APERTURE_SHIFT |
              (m_random() >> 16) % (traffic.span / line_bytes) * line_bytes;
    p->epoch = m_epoch;
    const auto slot = m_tags.insert(0);
    p->tag = m_tags[slot] = static_cast<std::uint32_t>(m_sent % ((1u << (32 - slot_bits)) - 1)) << slot_bits | slot;
    unsigned operands = 0;
    if (chance(traffic.writes)) {
        p->kind = access_kind::write;
        p->byte_mask = ~std::uint64_t{0};
        if (chance(traffic.atomics)) {
            p->kind = access_kind::atomic;
            p->size = operands = 8;
        } else {
            sign(*p, number, p->destination);
        }
    }
    const bool walk = p->kind == access_kind::read && chance(traffic.page_tables);
    p->read_critical = walk;
    if (walk)
        p->offset = static_cast<std::uint8_t>(p->line / line_bytes % 8 * 8);
    else if (p->kind == access_kind::read && chance(traffic.one_sector))
        p->needed_sectors = static_cast<std::uint8_t>(1u << (m_random() >> 62));
    p->set_request(format, walk, operands);
    ++requests;
    ++m_sent;
    ++m_in_flight;
    send(p);
}

void generator::packet_received(const packet_ptr& p) {
    if (is_response(p->type)) {
        link->prefetch_send(virtual_channel::request, link->partner());
        if (p->epoch != m_epoch) return;
        const auto slot = p->tag & ((1u << slot_bits) - 1);
        if (!m_tags.contains(slot) || m_tags[slot] != p->tag) {
            ++unexpected;
            return;
        }
        m_tags.remove(slot);
        ++responses;
        --m_in_flight;
        if (p->status != access_status::ok)
            ++refused;
        else if (p->kind == access_kind::read && is_generator(p->source) &&
                 ((p->type == packet_class::read_response && p->needed_sectors & ~p->valid_sectors) ||
                  !intact(*p, number, p->source, p->valid_sectors)))
            ++corrupt;
        if (span_recorder::on())
            span_recorder::current().finish(p->spans, p->injected_at, now(), this, name_of(p->type), p->line);
        pump();
        return;
    }
    if (p->kind == access_kind::write && is_generator(p->source) && !intact(*p, p->source, number, 0xf)) ++corrupt;
    p->due = now() + traffic.service;
    m_serving.push_back(p);
    if (!m_send_response.scheduled()) schedule(m_send_response, p->due);
}

void generator::send_response() {
    const auto p = m_serving.take_front();
    prefetch(p.get(), sizeof(packet));
    link->prefetch_send(virtual_channel::response, link->partner());
    if (!m_serving.empty()) schedule(m_send_response, m_serving.front()->due);
    ++served;
    if (p->kind == access_kind::read) {
        sign(*p, p->source, number);
        p->valid_sectors = 0xf;
    }
    p->pass(m_service_span, span_kind::service, now());
    p->make_response(format);
    send(p);
}

void generator::reset() {
    m_random.seed(block_seed(*this, traffic.seed));
    m_serving.clear();
    cancel(m_tick);
    cancel(m_send_response);
    m_sent = m_in_flight = m_burst = 0;
    m_next_target = 0;
    m_tags.clear();
    m_responses_before = responses.total();
    ++m_epoch;
    terminal::reset();
    begin();
}

}  // namespace fabricvp::fabric
