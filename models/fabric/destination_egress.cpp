// SPDX-License-Identifier: Apache-2.0
#include "fabric/destination_egress.h"

#include "fabric/port.h"

namespace fabricvp::fabric {

namespace {
constexpr auto requests = static_cast<unsigned>(virtual_channel::request);
}

destination_egress::destination_egress(const sc_core::sc_module_name& name, std::uint64_t window)
    : egress_stage(name), m_window(window) {}

void destination_egress::add_destination(bool windowed) {
    m_destinations.emplace_back();
    m_destinations.back().windowed = windowed;
}

void destination_egress::push(const packet_ptr& p) {
    const auto c = static_cast<unsigned>(p->channel());
    auto& q = m_destinations[p->destination].waiting[c];
    waiting.add(q.size());
    if (q.empty()) m_ready[c].push_back(p->destination);
    q.push_back({p, p->flits});
    ++m_count;
}

packet_ptr destination_egress::next(port& out) {
    for (unsigned tried = 0; tried < virtual_channels; ++tried) {
        const auto c = (m_next_channel + tried) % virtual_channels;
        if (auto p = next_of(out, c)) {
            m_next_channel = (c + 1) % virtual_channels;
            return p;
        }
    }
    return nullptr;
}

packet_ptr destination_egress::next_of(port& out, unsigned channel) {
    auto& ready = m_ready[channel];
    for (; !ready.empty(); ready.pop_front()) {
        const auto number = ready.front();
        auto& d = m_destinations[number];
        if (channel == requests && d.windowed && d.in_flight >= m_window) {
            d.parked = true;
            continue;
        }
        auto& q = d.waiting[channel];
        if (!out.has_credit(static_cast<virtual_channel>(channel), q.front().flits)) return nullptr;
        auto p = pop(d, channel);
        ready.pop_front();
        if (!q.empty()) ready.push_back(number);
        d.in_flight += channel == requests;
        return p;
    }
    return nullptr;
}

packet_ptr destination_egress::pop(destination& d, unsigned channel) {
    auto p = std::move(d.waiting[channel].front().packet);
    d.waiting[channel].pop_front();
    --m_count;
    return p;
}

packet_ptr destination_egress::drain() {
    for (auto& r : m_ready) r.clear();
    for (auto& d : m_destinations) {
        d.parked = false;
        for (unsigned c = 0; c < virtual_channels; ++c)
            if (!d.waiting[c].empty()) return pop(d, c);
    }
    return nullptr;
}

void destination_egress::response_received(unsigned terminal) {
    auto& d = m_destinations[terminal];
    if (d.in_flight == 0) return;  // to a request from before a reset
    --d.in_flight;
    if (!d.parked) return;
    d.parked = false;
    m_ready[requests].push_back(static_cast<std::uint16_t>(terminal));
}

void destination_egress::reset() {
    for (auto& d : m_destinations) {
        for (auto& q : d.waiting) q.clear();
        d.in_flight = 0;
        d.parked = false;
    }
    for (auto& r : m_ready) r.clear();
    m_next_channel = 0;
    m_count = 0;
    model::reset();
}

}  // namespace fabricvp::fabric
