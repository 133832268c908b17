// SPDX-License-Identifier: Apache-2.0
#include "fabric/netcrafter/cluster_queue.h"

#include <algorithm>

namespace fabricvp::fabric::netcrafter {

cluster_queue::cluster_queue(const packet_format& f, std::uint64_t entries, bool by_size, bool priority,
                             queue_reserve reserve)
    : m_entries(entries), m_reserve(reserve), m_fitting(f.payload() + 1), m_end_fitting(f.payload() + 1) {
    const auto walk = f.page_table_channels ? f.flits(header_bytes + address_bytes) : 0;
    m_min_guarantee = {f.flits(max_packet_bytes), f.flits(max_packet_bytes), walk, walk};
    if (by_size) {
        // Sizes that there are, by channel: see wire_type.
        for (const unsigned bytes : {12u, 20u, 28u, 76u})
            m_shapes.push_back({virtual_channel::request, static_cast<std::uint16_t>(bytes), 0, 0});
        for (const unsigned bytes : {4u, 12u, 20u, 36u, 52u, 68u})
            m_shapes.push_back({virtual_channel::response, static_cast<std::uint16_t>(bytes), 0, 0});
        if (f.page_table_channels)
            for (const auto c : {virtual_channel::page_table_request, virtual_channel::page_table_response})
                m_shapes.push_back({c, 12, 0, 0});
        for (auto& s : m_shapes) {
            s.flits = static_cast<std::uint16_t>(f.flits(s.bytes));
            s.last = static_cast<std::uint16_t>(s.bytes - (s.flits - 1u) * f.payload());
        }
        std::stable_sort(m_shapes.begin(), m_shapes.end(),
                         [](const auto& a, const auto& b) { return a.last > b.last; });
        for (unsigned q = 0; q < m_shapes.size(); ++q)
            m_shape_of[static_cast<unsigned>(m_shapes[q].channel)][m_shapes[q].bytes / 4] =
                static_cast<std::uint8_t>(q);
    } else {
        for (unsigned c = 0; c < (f.page_table_channels ? virtual_channels : data_channels); ++c) {
            m_shapes.push_back({static_cast<virtual_channel>(c), 0, 0, 0});
            m_shape_of[c].fill(static_cast<std::uint8_t>(c));
        }
    }
    m_priority_count = priority ? static_cast<unsigned>(m_shapes.size()) : 0;
    m_shapes.reserve(2 * m_shapes.size());
    for (unsigned q = 0; q < m_priority_count; ++q) m_shapes.push_back(m_shapes[q]);
    for (unsigned q = 0; q < m_shapes.size(); ++q) {
        const auto& s = m_shapes[q];
        m_of_channel[static_cast<unsigned>(s.channel)] |= 1u << q;
        if (s.bytes == 0) continue;
        for (unsigned free = s.last; free < m_fitting.size(); ++free)
            (s.flits == 1 ? m_fitting : m_end_fitting)[free] |= 1u << q;
    }
}

unsigned cluster_queue::add_destination() {
    m_used.emplace_back();
    m_filled.push_back(0);
    m_queues.resize(m_used.size() * m_shapes.size());
    const auto part = m_reserve == queue_reserve::half ? m_entries / (2 * data_channels * clusters()) : 0;
    for (unsigned c = 0; c < virtual_channels; ++c)
        m_guaranteed[c] = c < data_channels ? std::max(m_min_guarantee[c], part) : m_min_guarantee[c];
    if (std::accumulate(m_guaranteed.begin(), m_guaranteed.end(), std::uint64_t{0}) * clusters() > m_entries)
        m_guaranteed = m_min_guarantee;
    m_room = std::max(m_entries, min_entries(clusters()));
    m_beyond = 0;  // packets may be there, of which less is guaranteed now
    for (const auto& used : m_used)
        for (unsigned c = 0; c < virtual_channels; ++c) m_beyond += beyond(used[c], c);
    return clusters() - 1;
}

bool cluster_queue::has_room(unsigned cluster, virtual_channel c, unsigned flits) const {
    const auto channel = static_cast<unsigned>(c);
    const auto used = m_used[cluster][channel];
    if (used + flits <= m_guaranteed[channel]) return true;
    const auto shared =
        m_room - clusters() * std::accumulate(m_guaranteed.begin(), m_guaranteed.end(), std::uint64_t{0});
    return m_beyond - beyond(used, channel) + beyond(used + flits, channel) <= shared;
}

unsigned cluster_queue::queue_for(const packet& p, bool priority) const {
    const auto q = m_shape_of[static_cast<unsigned>(p.channel())][p.bytes / 4u];
    return priority && m_priority_count ? q + m_priority_count : q;
}

void cluster_queue::push(unsigned cluster, unsigned queue, const packet_ptr& p, ticks now) {
    auto& q = at(cluster, queue);
    q.push_back({p, now, never, p->flits, 0, 0, 0});
    m_filled[cluster] |= 1u << queue;
    ++m_packets;
    use(cluster, m_shapes[queue].channel, p->flits);
}

cluster_queue::entry cluster_queue::pop(unsigned cluster, unsigned queue) {
    auto& q = at(cluster, queue);
    auto e = std::move(q.front());
    q.pop_front();
    if (q.empty())
        m_filled[cluster] &= ~(1u << queue);
    else if (q.size() > 1)
        __builtin_prefetch(q[1].packet.get());
    --m_packets;
    free(cluster, m_shapes[queue].channel, e.flits);
    return e;
}

void cluster_queue::put_back(unsigned cluster, unsigned queue, entry&& e) {
    ++m_packets;
    use(cluster, m_shapes[queue].channel, e.flits);
    at(cluster, queue).push_front(std::move(e));
    m_filled[cluster] |= 1u << queue;
}

cluster_queue::entry& cluster_queue::detach_tail(unsigned cluster, unsigned queue) {
    auto& e = at(cluster, queue).front();
    --e.flits;
    free(cluster, m_shapes[queue].channel, 1);
    return e;
}

void cluster_queue::use(unsigned cluster, virtual_channel c, unsigned flits) {
    const auto channel = static_cast<unsigned>(c);
    auto& used = m_used[cluster][channel];
    m_beyond -= beyond(used, channel);
    m_beyond += beyond(used += flits, channel);
    m_flits += flits;
}

void cluster_queue::free(unsigned cluster, virtual_channel c, unsigned flits) {
    const auto channel = static_cast<unsigned>(c);
    auto& used = m_used[cluster][channel];
    m_beyond -= beyond(used, channel);
    m_beyond += beyond(used -= flits, channel);
    m_flits -= flits;
}

void cluster_queue::clear() {
    for (auto& q : m_queues) q.clear();
    for (auto& u : m_used) u.fill(0);
    std::fill(m_filled.begin(), m_filled.end(), 0);
    m_beyond = m_packets = m_flits = 0;
}

}  // namespace fabricvp::fabric::netcrafter
