// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/growing_ring.h"
#include "fabric/netcrafter/parameters.h"
#include "fabric/wire_format.h"

namespace fabricvp::fabric::netcrafter {

/// The memory in which packets wait for the link to other clusters, partitioned by destination cluster and by queue. A
/// queue holds packets of one virtual channel; where packets are stitched, of one size, which says how many bytes of
/// the last flit are free; and those that go before all others apart.
///
/// Each channel of each destination keeps room for one largest packet, so nothing that waits for others fills what they
/// need to get on. That is all that it takes against deadlock, and all that is kept with queue_reserve::packet. With
/// queue_reserve::half each data channel of each destination keeps an even part of one half of the memory. Otherwise,
/// where requests fill the memory, each response holds the only place for its pooling window.
class cluster_queue {
public:
    struct entry {
        packet_ptr packet;
        ticks since = 0;             ///< in the queue
        ticks pooled = never;        ///< waiting for riders
        std::uint16_t flits = 0;     ///< in the queue, and on the link
        std::uint16_t reserved = 0;  ///< flits for which it has credits already
        std::uint16_t id = 0;        ///< if its end has ridden ahead
        std::uint8_t tail = 0;       ///< bytes of its end that have
    };
    /// What is the same for all packets of a queue.
    struct shape {
        virtual_channel channel = virtual_channel::request;
        std::uint16_t bytes = 0;  ///< 0: of any size
        std::uint16_t flits = 0;
        std::uint16_t last = 0;  ///< bytes in the last flit
    };

    /// \param by_size queues by size too \param first packets may go before all others
    /// \param reserve what each channel of each destination keeps
    cluster_queue(const packet_format& format, std::uint64_t entries, bool by_size, bool priority,
                  queue_reserve reserve = queue_reserve::half);

    /// Makes room for one more cluster. \returns its number
    unsigned add_destination();
    unsigned clusters() const { return static_cast<unsigned>(m_used.size()); }
    /// Flits that so many clusters need at least.
    std::uint64_t min_entries(unsigned clusters) const {
        return clusters * std::accumulate(m_min_guarantee.begin(), m_min_guarantee.end(), std::uint64_t{0});
    }
    std::uint64_t entries() const { return m_entries; }

    bool has_room(unsigned cluster, virtual_channel c, unsigned flits) const;
    /// Which queue takes a packet. \param first it goes before others
    unsigned queue_for(const packet& p, bool priority) const;
    void push(unsigned cluster, unsigned queue, const packet_ptr& p, ticks now);
    /// Takes the first entry; flits that its end left ahead have been freed before.
    entry pop(unsigned cluster, unsigned queue);
    /// Back to where it was taken from.
    void put_back(unsigned cluster, unsigned queue, entry&& e);
    /// The end of the first entry rides ahead: frees one flit. \returns the entry
    entry& detach_tail(unsigned cluster, unsigned queue);
    const entry& front(unsigned cluster, unsigned queue) const { return at(cluster, queue).front(); }

    unsigned queues() const { return static_cast<unsigned>(m_shapes.size()); }
    const shape& shape_of(unsigned queue) const { return m_shapes[queue]; }
    bool is_priority(unsigned queue) const { return queue >= m_shapes.size() - m_priority_count; }
    /// Queues of a cluster that hold something: bit n, queue n.
    std::uint32_t filled(unsigned cluster) const { return m_filled[cluster]; }
    /// Queues of a channel, and those that go first.
    std::uint32_t of_channel(virtual_channel c) const { return m_of_channel[static_cast<unsigned>(c)]; }
    std::uint32_t priority() const {
        return m_priority_count ? ~((1u << (m_shapes.size() - m_priority_count)) - 1) & all() : 0;
    }
    std::uint32_t all() const { return m_shapes.size() == 32 ? ~0u : (1u << m_shapes.size()) - 1; }
    /// Queues whose packets are one flit and fit into so many free bytes, and queues the ends of whose packets do.
    /// The fuller they make the flit, the lower their bit.
    std::uint32_t fitting(unsigned bytes) const { return m_fitting[bytes]; }
    std::uint32_t with_end_fitting(unsigned bytes) const { return m_end_fitting[bytes]; }

    std::uint64_t packets() const { return m_packets; }
    std::uint64_t flits() const { return m_flits; }
    std::uint64_t used(unsigned cluster, virtual_channel c) const { return m_used[cluster][static_cast<unsigned>(c)]; }
    void clear();

private:
    using fifo = growing_ring<entry>;
    fifo& at(unsigned cluster, unsigned queue) { return m_queues[cluster * m_shapes.size() + queue]; }
    const fifo& at(unsigned cluster, unsigned queue) const { return m_queues[cluster * m_shapes.size() + queue]; }
    std::uint64_t beyond(std::uint64_t used, unsigned channel) const {
        return used > m_guaranteed[channel] ? used - m_guaranteed[channel] : 0;
    }
    void use(unsigned cluster, virtual_channel c, unsigned flits);
    void free(unsigned cluster, virtual_channel c, unsigned flits);

    std::uint64_t m_entries;
    std::uint64_t m_room = 0;  ///< flits: m_entries, more where ways have changed and clusters need more at least
    queue_reserve m_reserve;
    std::array<std::uint64_t, virtual_channels> m_min_guarantee;  // of each cluster: a largest packet
    std::array<std::uint64_t, virtual_channels> m_guaranteed{};   // of each cluster: what others cannot fill
    std::vector<shape> m_shapes;  // largest use of the last flit first; those that go first behind them
    unsigned m_priority_count;    // how many of the shapes go first
    std::array<std::array<std::uint8_t, max_packet_bytes / 4 + 1>, virtual_channels> m_shape_of{};  // by bytes / 4
    std::array<std::uint32_t, virtual_channels> m_of_channel{};
    std::vector<std::uint32_t> m_fitting, m_end_fitting;
    std::vector<fifo> m_queues;
    std::vector<std::uint32_t> m_filled;
    std::vector<std::array<std::uint64_t, virtual_channels>> m_used;
    std::uint64_t m_beyond = 0, m_packets = 0, m_flits = 0;
};

}  // namespace fabricvp::fabric::netcrafter
