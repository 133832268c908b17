// SPDX-License-Identifier: Apache-2.0
// A traffic generator: a channel adapter without a node. It sends unreliable datagrams to others of its kind, and
// checks of theirs that each arrives at most once, in order, with the contents that it was sent with. What is lost it
// counts.
#pragma once

#include <random>
#include <vector>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "link/traffic_pattern.h"
#include "network/port.h"

namespace fabricvp::network {

struct generator_params {
    port_params port;
    link::traffic_pattern pattern = link::traffic_pattern::uniform;
    std::uint64_t packets = 0;
    byte_size payload{2048};
    double load = 1.0;
    std::uint64_t service_levels = 1;
    duration start{0};
    std::uint64_t seed = 0;
    void describe(parameter_visitor& v);
};

class generator final : public model, private port_owner {
public:
    const generator_params params;

    counter sent{*this, "sent", "1", "packets handed over to be sent"};
    counter received{*this, "received", "1", "packets of others that arrived"};
    counter missed{*this, "missed", "1",
                   "packets of others that did not come before later ones of the same sender and service level"};
    counter late{*this, "late", "1",
                 "packets that came after later ones of the same sender and service level, or twice"};
    counter corrupt{*this, "corrupt", "1",
                    "packets that did not arrive as they were sent, or not at their destination"};
    counter bad_icrc{*this, "bad_icrc", "1", "packets dropped because their ICRC was wrong"};
    histogram latency{*this, "latency", "ps", "from handing over a packet to its last byte's arrival"};

    port link;

    generator(const sc_core::sc_module_name& name, const generator_params& params);

    /// Which of those that take part, itself among them, one sends to.
    static std::vector<unsigned> targets_of(link::traffic_pattern pattern, const std::vector<unsigned>& participants,
                                            unsigned self);
    /// Numbers of all that take part, itself among them, and LIDs by number.
    void set_peers(const std::vector<unsigned>& participants, unsigned self, std::vector<std::uint16_t> lids);
    /// Sends its packets; called by the network when it is complete, and after a reset.
    void begin();
    /// All packets sent, if their number is limited.
    bool finished() const { return params.packets && m_sent >= params.packets; }

    void reset() override;

private:
    void packet_arrived(port& at, const packet_ptr& p) override;
    void space_available(port&, unsigned) override { pump(); }
    void pump();
    packet_ptr next();

    std::vector<unsigned> m_targets;
    std::vector<std::uint16_t> m_lids;
    unsigned m_self = 0;
    std::vector<std::uint32_t> m_next_psn;      // by target and service level
    std::vector<std::uint32_t> m_expected_psn;  // by sender and service level
    buffer_slice m_payload;                     // of all packets: which byte stands where follows from the sender
    packet_ptr m_waiting;                       // has no room
    std::mt19937_64 m_random;
    std::uint64_t m_sent = 0;
    std::size_t m_next_target = 0;
    ticks m_next_time = 0;
    calendar_event m_pump{method<&generator::pump>, this};
};

}  // namespace fabricvp::network
