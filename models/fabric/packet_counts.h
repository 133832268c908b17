// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "base/statistics.h"
#include "fabric/packet.h"

namespace fabricvp::fabric {

/// What a link carried, by class of packet: packets, bytes, flits, padding, and how many of the flits are padded by how
/// much. The share of a flit that is padding is given in quarters, rounded up, as in NetCrafter's figures: a flit of 16
/// bytes with 4 of padding counts as one quarter, with 12 as three.
class packet_counts final : public statistic {
public:
    struct sums {
        std::uint64_t packets = 0, bytes = 0, flits = 0, padding = 0;
        std::array<std::uint64_t, 5> padded{};  ///< flits: without padding, up to 1/4, 2/4, 3/4, more
        void operator+=(const sums& o);
    };

    packet_counts(const sc_core::sc_object& owner, std::string name, std::string help)
        : statistic(owner, std::move(name), "1", std::move(help)) {}

    /// \param bytes of a flit that carry packets
    void set_flit(std::uint64_t bytes) { m_flit = bytes; }
    void add(const packet& p) {
        const auto number = kinds[static_cast<unsigned>(p.type)][p.bytes < sizes ? p.bytes : sizes - 1];
        if (number < m_counts.size())
            ++m_counts[number];
        else
            add_first(p);
    }

    /// What carried packets that were stitched together; then every unit of them must be given, beside its packets.
    void add_unit(unsigned bytes, unsigned flits);

    sums of(packet_class c) const;
    sums all() const;
    /// What was on the link: the same as all() unless packets were stitched together.
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

    void add_first(const packet& p);
    sums of_packets(std::uint64_t packets, std::uint64_t bytes, std::uint64_t flits) const;

    std::uint64_t m_flit = 16;
    boost::container::small_vector<std::uint64_t, 12> m_counts;  // by the kind's number
    std::vector<std::uint64_t> m_base;
    sums m_units, m_units_base;
    ticks m_since = 0;
};

}  // namespace fabricvp::fabric
