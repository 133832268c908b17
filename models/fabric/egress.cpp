// SPDX-License-Identifier: Apache-2.0
#include "fabric/egress.h"

#include <numeric>

#include "fabric/port.h"

namespace fabricvp::fabric {

fifo_egress::fifo_egress(const sc_core::sc_module_name& name, std::uint64_t entries, std::uint64_t page_tables)
    : egress_stage(name), m_capacity{entries / 2, page_tables / 2} {}

void fifo_egress::push(const packet_ptr& p) {
    const auto c = static_cast<unsigned>(p->channel());
    waiting.add(std::accumulate(m_flits.begin(), m_flits.end(), std::uint64_t{0}));
    ++m_packets;
    m_queues[c].push_back({p, p->flits});
    m_flits[c] += p->flits;
}

packet_ptr fifo_egress::next(port& out) {
    for (unsigned tried = 0; tried < virtual_channels; ++tried) {
        const auto c = (m_next_grant + tried) % virtual_channels;
        if (m_queues[c].empty() || !out.has_credit(static_cast<virtual_channel>(c), m_queues[c].front().flits))
            continue;
        m_next_grant = (c + 1) % virtual_channels;
        return pop(c);
    }
    return nullptr;
}

packet_ptr fifo_egress::drain() {
    for (unsigned c = 0; c < virtual_channels; ++c)
        if (!m_queues[c].empty()) return pop(c);
    return nullptr;
}

packet_ptr fifo_egress::pop(unsigned c) {
    auto e = m_queues[c].take_front();
    m_flits[c] -= e.flits;
    --m_packets;
    if (m_queues[c].size() > 1) __builtin_prefetch(m_queues[c][1].packet.get(), 1);
    return std::move(e.packet);
}

void fifo_egress::reset() {
    for (auto& q : m_queues) q.clear();
    m_flits.fill(0);
    m_packets = 0;
    m_next_grant = 0;
    model::reset();
}

}  // namespace fabricvp::fabric
