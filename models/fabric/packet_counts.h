// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/statistics.h"
#include "fabric/packet.h"

namespace fabricvp::fabric {

/// What a link carried, by class of packet: packets, bytes, flits, padding, and how many of the flits are padded by how
/// much. The share of a flit that is padding is given in quarters, rounded up, as in the figures of Fatima et al. (ISCA
/// 2025): a flit of 16 bytes with 4 of padding counts as one quarter, with 12 as three.
class alignas(64) packet_counts final : public statistic {
public:
    struct sums {
        std::uint64_t packets = 0, bytes = 0, flits = 0, padding = 0;
        std::array<std::uint64_t, 5> padded{};  ///< flits: without padding, up to 1/4, 2/4, 3/4, more
        std::uint64_t quarter_padded = 0;       ///< flits with 1/4 or more
        void operator+=(const sums& o);
        void operator-=(const sums& o);
    };

    packet_counts(const sc_core::sc_object& owner, std::string name, std::string help)
        : statistic(owner, std::move(name), "1", std::move(help)) {}

    /// \param bytes of a flit that carry packets
    void set_flit(std::uint64_t bytes) { m_flit = bytes; }
    void add(const packet& p) { count(m_counts, p); }

    /// What a stage sent as one, and each packet in it, which must be given to add() as well.
    void add_carrier(unsigned bytes, unsigned flits);
    void add_carried(const packet& p) { count(m_carried, p); }

    sums of(packet_class c) const;
    sums all() const;
    /// What was on the link: the same as all() unless a stage put packets together.
    sums wire() const;
    /// Since construction, whatever the region of interest.
    std::uint64_t total_packets() const;

    void report(statistics_snapshot& to) const override;
    void restart() override;
    /// Start of the region of interest.
    ticks since() const { return m_since; }

private:
    static constexpr unsigned sizes = 256;
    /// Packets of one class and as many bytes are of a kind. There are few kinds in a run, and many links: a kind has a
    /// number from its first packet on, so that a link needs a word for each and not for all that could be.
    using kind_numbers = std::array<std::array<std::uint16_t, sizes>, packet_classes>;
    static constexpr std::uint16_t unseen = 0xffff;
    static kind_numbers kinds;
    static std::uint16_t seen_kinds;
    static kind_numbers all_unseen();

    /// By the kind's number. Of the first kinds, they share the statistic's first cache line.
    struct counts {
        std::array<std::uint64_t, 6> first{};
        std::vector<std::uint64_t> more;
        std::uint64_t of(std::size_t number) const {
            if (number < first.size()) return first[number];
            return number - first.size() < more.size() ? more[number - first.size()] : 0;
        }
        template <class F>
        void for_each(F f) const {
            for (const auto n : first) f(n);
            for (const auto n : more) f(n);
        }
    };
    static void count(counts& c, const packet& p) {
        const auto number = kinds[static_cast<unsigned>(p.type)][p.bytes < sizes ? p.bytes : sizes - 1];
        if (number < c.first.size())
            ++c.first[number];
        else
            count_another(c, p);
    }
    static void count_another(counts& c, const packet& p);
    sums of(packet_class c, const counts& all, const counts& base) const;
    sums of_packets(std::uint64_t packets, std::uint64_t bytes, std::uint64_t flits) const;

    counts m_counts;
    std::uint64_t m_flit = 16;
    counts m_carried, m_base, m_carried_base;
    sums m_carriers, m_carriers_base;
    ticks m_since = 0;
};

}  // namespace fabricvp::fabric
