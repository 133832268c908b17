// SPDX-License-Identifier: Apache-2.0
#include "fabric/netcrafter/stitcher.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabricvp::fabric::netcrafter {

namespace {

constexpr unsigned bit(virtual_channel c) { return 1u << static_cast<unsigned>(c); }
bool is_page_table(const packet& p) {
    return p.type == packet_class::page_table_request || p.type == packet_class::page_table_response;
}

}  // namespace

stitcher::stitcher(const parameters& p, const packet_format& format, ticks window)
    : queue(format, p.entries, p.stitching, p.sequencing != sequencing_mode::none, p.reserved),
      identifiers(wire_format{0, static_cast<std::uint8_t>(p.sub_header.bytes)}.max_tail_id() + 1),
      m_params(p),
      m_format(format),
      m_window(window),
      m_payload(format.payload()),
      m_sub_header(static_cast<unsigned>(p.sub_header.bytes)) {}

bool stitcher::has_priority(unsigned cluster, const packet& p) {
    if (m_params.sequencing == sequencing_mode::page_tables) return is_page_table(p);
    if (m_params.sequencing == sequencing_mode::read_critical) return is_page_table(p) && p.read_critical;
    if (m_params.sequencing == sequencing_mode::none) return false;
    // The control: for each page-table packet, the data packet that comes next.
    if (m_priority_quota.size() <= cluster) m_priority_quota.resize(cluster + 1);
    auto& quota = m_priority_quota[cluster][static_cast<unsigned>(p.channel())];
    if (is_page_table(p)) {
        ++quota;
        return false;
    }
    return quota && quota--;
}

unsigned stitcher::push(unsigned cluster, const packet_ptr& p, ticks now) {
    const auto q = queue.queue_for(*p, has_priority(cluster, *p));
    queue.push(cluster, q, p, now);
    return q;
}

bool stitcher::next(ticks now, link_credits& credits, wire_unit& to) {
    m_wake = never;
    unsigned blocked_channels = 0;
    const auto clusters = queue.clusters();
    std::uint32_t filled = 0;
    for (unsigned c = 0; c < clusters; ++c) filled |= queue.filled(c);
    for (unsigned level = 0; level < 2; ++level) {
        const auto at_level = level == 0 ? queue.priority() : queue.all() & ~queue.priority();
        if (!(at_level & filled)) continue;
        for (unsigned tried = 0; tried < virtual_channels; ++tried) {
            const auto channel = (m_next_channel + tried) % virtual_channels;
            const auto mine = at_level & filled & queue.of_channel(static_cast<virtual_channel>(channel));
            if (!mine) continue;
            auto& next_grant = m_next_grant[level][channel];
            const auto start = next_grant / 32, behind = ~0u << next_grant % 32;
            for (unsigned step = 0; step <= clusters; ++step) {
                const auto cluster = (start + step) % clusters;
                auto waiting = queue.filled(cluster) & mine;
                if (step == 0) waiting &= behind;
                if (step == clusters) waiting &= ~behind;
                for (; waiting; waiting &= waiting - 1) {
                    const auto q = static_cast<unsigned>(__builtin_ctz(waiting));
                    // Behind one that lacks credits, only what has its own already goes on; it may be what holds them.
                    const bool bypasses = blocked_channels >> channel & 1;
                    if (bypasses && !queue.front(cluster, q).reserved) continue;
                    const auto outcome = serve(cluster, q, now, credits, to);
                    if (outcome == attempt::lacks_credits) blocked_channels |= 1u << channel;
                    if (outcome != attempt::sent) continue;
                    if (!bypasses) next_grant = cluster * 32 + q + 1;
                    m_next_channel = (channel + 1) % virtual_channels;
                    return true;
                }
            }
        }
    }
    return false;
}

stitcher::attempt stitcher::serve(unsigned cluster, unsigned q, ticks now, link_credits& credits, wire_unit& to) {
    const auto c = queue.shape_of(q).channel;
    const auto& waiting = queue.front(cluster, q);
    const unsigned needs = waiting.flits - std::min(waiting.flits, waiting.reserved);
    if (needs && !credits.request_credits(c, needs)) {
        m_credit_waiters |= bit(c);
        return attempt::lacks_credits;
    }
    auto head = queue.pop(cluster, q);
    const unsigned free = head.tail || !m_params.stitching ? 0 : head.flits * m_payload - head.packet->bytes;
    candidate unused{};
    const bool found = free && find(cluster, free, m_params.partial, credits, c, needs, unused);
    if (must_wait(head, q, free, found, now)) {
        m_wake = std::min(m_wake, window_begin(head, now) + m_window);
        if (head.pooled == never) {
            head.pooled = now;
            ++m_pooled.waited;
        }
        queue.put_back(cluster, q, std::move(head));
        return attempt::waits;
    }
    if (needs) {
        m_credit_waiters &= ~bit(c);
        credits.take(c, needs);
    }
    m_stitched.clear();
    if (found) stitch(cluster, free, c, now, credits);
    const auto waited = end_wait(head, found, now);
    write(to, head, waited);
    return attempt::sent;
}

/// A packet leaves, or its end does. \returns how long it has waited for others to ride
ticks stitcher::end_wait(cluster_queue::entry& e, bool in_company, ticks now) {
    if (e.pooled == never) return 0;
    const auto waited = now - std::exchange(e.pooled, never);
    m_pooled.found += in_company;
    m_pooled.time += waited;
    return waited;
}

/// When the window of a queue's first packet began. Only the first of a queue ever waits, so when it began to is the
/// queue's one timer, which is cleared as the packet leaves, be it as a rider.
ticks stitcher::window_begin(const cluster_queue::entry& e, ticks now) const {
    if (m_params.window_from == window_start::arrival) return e.since;
    return e.pooled == never ? now : e.pooled;
}

/// Pooling: for one window at most, and only where something could ever ride.
bool stitcher::must_wait(const cluster_queue::entry& e, unsigned q, unsigned free, bool found, ticks now) const {
    if (m_params.pooling == pooling_mode::none || !free) return false;
    if (now >= window_begin(e, now) + m_window) return false;
    if (queue.is_priority(q) && m_params.sequencing != sequencing_mode::none) return false;
    if (m_params.pooling == pooling_mode::selective && is_page_table(*e.packet)) return false;
    // Algorithm 1 starts the timer where there is no candidate, so one that is there at once rides at once.
    if (found) return m_params.whole_window && (e.pooled != never || m_params.window_from == window_start::arrival);
    const bool end = m_params.partial && free > m_sub_header && queue.with_end_fitting(free - m_sub_header);
    return end || queue.fitting(free);
}

bool stitcher::find(unsigned cluster, unsigned free, bool ends, const link_credits& credits, virtual_channel c,
                    unsigned taken, candidate& found) const {
    const auto filled = queue.filled(cluster);
    if (const auto whole = filled & queue.fitting(free)) {
        if (pick(cluster, whole & queue.priority(), false, credits, c, taken, found)) return true;
        if (pick(cluster, whole & ~queue.priority(), false, credits, c, taken, found)) return true;
    }
    if (!ends || free <= m_sub_header) return false;
    return pick(cluster, filled & queue.with_end_fitting(free - m_sub_header), true, credits, c, taken, found);
}

bool stitcher::pick(unsigned cluster, std::uint32_t among, bool end, const link_credits& credits, virtual_channel c,
                    unsigned taken, candidate& found) const {
    for (; among; among &= among - 1) {
        const auto q = static_cast<unsigned>(__builtin_ctz(among));
        const auto& s = queue.shape_of(q);
        if (m_credit_waiters & bit(s.channel) & ~bit(c)) continue;  // the head's own channel is the head's turn
        if (end && (queue.front(cluster, q).tail ||
                    s.last > wire_format{0, static_cast<std::uint8_t>(m_sub_header)}.max_tail_bytes()))
            continue;
        if (!credits.covers(s.channel, s.flits + (s.channel == c ? taken : 0))) continue;
        found = {q, end};
        return true;
    }
    return false;
}

void stitcher::stitch(unsigned cluster, unsigned free, virtual_channel c, ticks now, link_credits& credits) {
    candidate found{};
    std::uint64_t ends = m_params.partial ? m_params.partial_candidates : 0;  // that may still ride
    while (free && m_stitched.size() < m_params.candidates && find(cluster, free, ends, credits, c, 0, found)) {
        const auto& s = queue.shape_of(found.queue);
        credits.take(s.channel, s.flits);
        if (!found.end) {
            m_stitched.push_back({queue.pop(cluster, found.queue), false});
            m_stitched.back().waited = end_wait(m_stitched.back().entry, true, now);
            free -= s.last;
            continue;
        }
        --ends;
        auto& e = queue.detach_tail(cluster, found.queue);
        e.reserved = s.flits;
        e.tail = static_cast<std::uint8_t>(s.last);
        e.id = identifiers.take();
        identifiers.hold(e.id);
        const auto waited = end_wait(e, true, now);
        m_stitched.push_back({e, true, waited});
        free -= m_sub_header + s.last;
    }
}

void stitcher::write(wire_unit& to, cluster_queue::entry& head, ticks waited) {
    to.format = {static_cast<std::uint16_t>(m_payload), static_cast<std::uint8_t>(m_sub_header)};
    const auto behind = [&](std::size_t i) {
        return i == m_stitched.size() ? follower::padding : m_stitched[i].end ? follower::tail : follower::packet;
    };
    std::array<std::uint8_t, max_packet_bytes> whole;
    auto* at = to.bytes.data();
    {
        const packet& p = *head.packet;
        to.ready = p.tail;
        const auto id = head.tail ? head.id : identifiers.take();
        const wire_header h{type_of(p), behind(0), p.destination, id};
        const auto bytes = static_cast<std::uint8_t>(p.bytes - head.tail);
        if (head.tail) {
            identifiers.release(id);
            serialise(p, h, whole.data());
            std::memcpy(at, whole.data(), bytes);
        } else {
            serialise(p, h, at);
        }
        at += bytes;
        to.parts.push_back({std::move(head.packet),
                            head.tail ? wire_unit::part_kind::body : wire_unit::part_kind::whole, p.channel(), bytes,
                            p.flits, id, waited});
    }
    for (std::size_t i = 0; i < m_stitched.size(); ++i) {
        auto& r = m_stitched[i];
        const packet& p = *r.entry.packet;
        to.ready = std::max(to.ready, p.tail);
        if (r.end) {
            to.format.put({behind(i + 1), r.entry.tail, r.entry.id}, at);
            at += m_sub_header;
            serialise(p, {type_of(p), follower::padding, p.destination, r.entry.id}, whole.data());
            std::memcpy(at, whole.data() + p.bytes - r.entry.tail, r.entry.tail);
            at += r.entry.tail;
            to.parts.push_back({nullptr, wire_unit::part_kind::tail, p.channel(), r.entry.tail, p.flits, r.entry.id});
        } else {
            const auto id = identifiers.take();
            serialise(p, {type_of(p), behind(i + 1), p.destination, id}, at);
            at += p.bytes;
            to.parts.push_back({std::move(r.entry.packet), wire_unit::part_kind::whole, p.channel(),
                                static_cast<std::uint8_t>(p.bytes), p.flits, id, r.waited});
        }
    }
    to.used = static_cast<std::uint16_t>(at - to.bytes.data());
    to.flits = static_cast<std::uint16_t>((to.used + m_payload - 1) / m_payload);
    std::memset(at, 0, to.length() - to.used);
    m_stitched.clear();
}

/// A packet whose end has ridden ahead goes whole: no unstitcher will join that end to it.
packet_ptr stitcher::drain() {
    for (unsigned cluster = 0; cluster < queue.clusters(); ++cluster) {
        if (!queue.filled(cluster)) continue;
        auto e = queue.pop(cluster, static_cast<unsigned>(__builtin_ctz(queue.filled(cluster))));
        if (e.tail) identifiers.release(e.id);
        return std::move(e.packet);
    }
    return nullptr;
}

void stitcher::set(const parameters& p) {
    m_params = p;
    const auto clusters = queue.clusters();
    queue = cluster_queue(m_format, p.entries, p.stitching, p.sequencing != sequencing_mode::none, p.reserved);
    while (queue.clusters() < clusters) queue.add_destination();
    reset_arbitration();
}

void stitcher::reset() {
    queue.clear();
    identifiers.reset();
    reset_arbitration();
}

void stitcher::reset_arbitration() {
    m_next_grant = {};
    m_next_channel = m_credit_waiters = 0;
    m_priority_quota.clear();
    m_wake = never;
}

}  // namespace fabricvp::fabric::netcrafter
