// SPDX-License-Identifier: Apache-2.0
#include "fabric/generator.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "abi/gpu_apertures.h"

namespace fabricvp::fabric {

namespace {

std::uint64_t word_at(std::uint64_t address) {
    auto x = (address + 1) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    return x * 0xbf58476d1ce4e5b9u;
}

void fill(packet& p) {
    for (unsigned i = 0; i < line_bytes; i += 8) {
        const auto w = word_at(p.line + i);
        std::memcpy(p.data.data() + i, &w, sizeof w);
    }
}

bool intact(const packet& p, unsigned sectors) {
    for (unsigned i = 0; i < line_bytes; i += 8) {
        std::uint64_t w;
        std::memcpy(&w, p.data.data() + i, sizeof w);
        if (sectors >> i / 16 & 1 && w != word_at(p.line + i)) return false;
    }
    return true;
}

}  // namespace

void generator_params::describe(parameter_visitor& v) {
    v.choice("pattern", pattern, "to whom: everybody alike, one more than others, or the next one only");
    v.field("hot_spot", hot_spot, between{0, most_terminals - 1}, "terminal that gets more");
    v.field("hot_share", hot_share, between{0, 1}, "share of the requests that go to the hot spot");
    v.field("requests", requests, between{0, 1e15}, "requests that are sent; 0: without end");
    v.field("outstanding", outstanding, between{1, 1e6}, "most requests under way");
    v.field("interval", interval, between{0, 1e12}, "mean time from one request to the next; 0 ps: as soon as one may be under way");
    v.field("random_intervals", random_intervals, "intervals are exponentially distributed; otherwise all the same");
    v.field("writes", writes, between{0, 1}, "share of the requests that write a line");
    v.field("page_tables", page_tables, between{0, 1}, "share of the reads that are page-table reads");
    v.field("atomics", atomics, between{0, 1}, "share of the writes that are atomics on 8 bytes, which are not performed");
    v.field("span", span, between{64, 1e12}, "memory of each peer from its start on that requests go to");
    v.field("service", service, between{0, 1e12}, "time that it takes to answer a request of another");
    v.field("start", start, between{0, 1e15}, "of the first request");
    v.field("seed", seed, "of its choices");
}

generator::generator(const sc_core::sc_module_name& name, const generator_params& p, terminal& at)
    : model(name), params(p), m_terminal(at), m_random(p.seed + at.number * 0x9e3779b97f4a7c15u), m_serving(64) {
    at.attach(*this);
}

void generator::set_peers(std::uint64_t targets, std::uint64_t generators) {
    m_generators = generators;
    m_targets.clear();
    for (unsigned t = 0; t < most_terminals; ++t)
        if (targets >> t & 1 && t != m_terminal.number && m_terminal.reaches(t)) m_targets.push_back(t);
}

void generator::begin() {
    if (m_targets.empty()) return;
    m_next_time = now() + params.start;
    schedule(m_tick, m_next_time);
}

void generator::tick() { pump(); }

void generator::pump() {
    while (m_under_way < params.outstanding && (params.requests == 0 || m_sent < params.requests)) {
        if (m_next_time > now()) {
            if (!m_tick.scheduled()) schedule(m_tick, m_next_time);
            return;
        }
        send_one();
        if (params.interval == 0) continue;
        const double u = 1.0 - static_cast<double>(m_random() >> 11) * 0x1p-53;
        m_next_time += params.random_intervals ? static_cast<ticks>(-std::log(u) * static_cast<double>(params.interval.value)) : params.interval.value;
    }
}

unsigned generator::pick() {
    switch (params.pattern) {
        case traffic_pattern::hot_spot:
            if (std::find(m_targets.begin(), m_targets.end(), params.hot_spot) != m_targets.end() && chance(params.hot_share))
                return static_cast<unsigned>(params.hot_spot);
            [[fallthrough]];
        case traffic_pattern::uniform: return m_targets[(m_random() >> 32) * m_targets.size() >> 32];
        case traffic_pattern::neighbour: break;
    }
    const auto next = std::upper_bound(m_targets.begin(), m_targets.end(), m_terminal.number);
    return next == m_targets.end() ? m_targets.front() : *next;
}

void generator::send_one() {
    const auto p = make_packet();
    p->destination = static_cast<std::uint16_t>(pick());
    p->line = (std::uint64_t{GPU_PA_GPU0} + p->destination) << GPU_PA_WHERE_SHIFT | (m_random() >> 16) % (params.span / line_bytes) * line_bytes;
    p->epoch = m_epoch;
    p->tag = static_cast<std::uint32_t>(m_sent);
    unsigned operands = 0;
    if (chance(params.writes)) {
        p->kind = access_kind::write;
        p->byte_mask = ~std::uint64_t{0};
        if (chance(params.atomics)) {
            p->kind = access_kind::atomic;
            p->size = operands = 8;
        } else {
            fill(*p);
        }
    }
    p->set_request(m_terminal.format, p->kind == access_kind::read && chance(params.page_tables), operands);
    ++requests;
    ++m_sent;
    ++m_under_way;
    m_terminal.send(p);
}

void generator::packet_received(const packet_ptr& p) {
    if (is_response(p->type)) {
        if (p->epoch != m_epoch) return;
        ++responses;
        --m_under_way;
        if (p->status != access_status::ok) ++refused;
        else if (p->kind == access_kind::read && m_generators >> p->source & 1 && !intact(*p, p->valid_sectors)) ++corrupt;
        if (span_recorder::on()) span_recorder::current().finish(p->spans, p->born, now(), this, name_of(p->type), p->line);
        pump();
        return;
    }
    if (p->kind == access_kind::write && m_generators >> p->source & 1 && !intact(*p, 0xf)) ++corrupt;
    p->due = now() + params.service;
    if (m_serving.full()) m_serving.set_capacity(2 * m_serving.capacity());
    m_serving.push_back(p);
    if (!m_answer.scheduled()) schedule(m_answer, p->due);
}

void generator::answer() {
    const auto p = std::move(m_serving.front());
    m_serving.pop_front();
    if (!m_serving.empty()) schedule(m_answer, m_serving.front()->due);
    ++served;
    if (p->kind == access_kind::read) {
        fill(*p);
        p->valid_sectors = 0xf;
    }
    p->pass(m_service_span, span_kind::service, now());
    p->turn(m_terminal.format);
    m_terminal.send(p);
}

void generator::reset() {
    m_random.seed(params.seed + m_terminal.number * 0x9e3779b97f4a7c15u);
    m_serving.clear();
    cancel(m_tick);
    cancel(m_answer);
    m_sent = m_under_way = 0;
    m_heard_before = responses.total();
    ++m_epoch;
    model::reset();
    begin();
}

}  // namespace fabricvp::fabric
