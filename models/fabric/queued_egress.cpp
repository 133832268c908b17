// SPDX-License-Identifier: Apache-2.0
#include "fabric/queued_egress.h"

#include <algorithm>
#include <utility>

namespace fabricvp::fabric {

queued_egress::queued_egress(const sc_core::sc_module_name& name, const stage_place& p)
    : egress_stage(name), place(p) {}

bool queued_egress::has_room(virtual_channel c, unsigned flits, unsigned) const {
    const auto capacity = (is_data(c) ? place.entries : place.page_table_entries) / 2;  // the other half: responses
    return capacity == 0 || m_flits[static_cast<unsigned>(c)] + flits <= capacity;
}

void queued_egress::push(const packet_ptr& p) {
    const auto c = static_cast<unsigned>(p->channel());
    m_flits[c] += p->flits;
    ++m_packets;
    m_queues[c].push_back({p, now() + hold_time(*p)});
}

packet_ptr queued_egress::next(port& out) {
    for (unsigned tried = 0; tried < virtual_channels; ++tried) {
        const auto c = (m_next_grant + tried) % virtual_channels;
        auto& q = m_queues[c];
        if (q.empty() || !out.has_credit(static_cast<virtual_channel>(c), q.front()->flits)) continue;
        selection leaving(q, out);
        const bool complete = choose(q, leaving);
        if (!complete && q.front().until > now()) {
            out.call_at(q.front().until);
            continue;
        }
        m_next_grant = (c + 1) % virtual_channels;
        packet_list packets;
        for (const auto number : leaving.m_places) packets.push_back(take(q, number - packets.size()));
        return packets.size() == 1 ? packets.front() : join(out, packets);
    }
    return nullptr;
}

packet_ptr queued_egress::drain() {
    for (auto& q : m_queues)
        if (!q.empty()) return take(q, 0);
    return nullptr;
}

void queued_egress::reset() {
    for (auto& q : m_queues) q.clear();
    m_flits.fill(0);
    m_packets = 0;
    m_next_grant = 0;
    egress_stage::reset();
}

packet_ptr queued_egress::join(port& out, const packet_list& packets) {
    std::uint32_t bytes = 0;
    for (const auto& p : packets) bytes += p->bytes;
    return make_bundle(out, packets, bytes);
}

packet_ptr queued_egress::take(queue& q, std::size_t number) {
    const auto at = q.begin() + static_cast<std::ptrdiff_t>(number);
    auto p = std::move(at->held);
    p->pass(hold_span, span_kind::queueing, std::min(now(), at->until));
    m_flits[static_cast<unsigned>(p->channel())] -= p->flits;
    --m_packets;
    q.erase(at);
    return p;
}

bool queued_egress::selection::add(std::size_t number) {
    const auto& p = *m_waiting[number];
    if (!m_out.covers(p.channel(), m_flits + p.flits)) return false;
    m_flits += p.flits;
    m_places.push_back(number);
    return true;
}

}  // namespace fabricvp::fabric
