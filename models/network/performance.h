// SPDX-License-Identifier: Apache-2.0
// The performance management agent of a switch or a channel adapter (InfiniBand Architecture Specification, volume 1,
// chapter 16): PortCounters and PortCountersExtended, which count from a reset or from what a Set wrote.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "network/port.h"

namespace fabricvp::network {

class performance_agent {
public:
    /// \param ports by number, from 1 \param has_port_0 a switch's own, which has no link
    performance_agent(std::vector<const port*> ports, bool has_port_0);

    /// \param data of the datagram: the request's on entry, the response's on return \returns the response's status
    unsigned process(bool set, unsigned attribute, std::uint8_t* data);
    /// All counters begin at 0.
    void clear();

private:
    /// In the order of the bits by which PortCounters' CounterSelect names them.
    enum counter_index : unsigned {
        symbol_errors,
        link_recoveries,
        link_downs,
        receive_errors,
        remote_physical_errors,
        relay_errors,
        transmit_discards,
        transmit_constraint_errors,
        receive_constraint_errors,
        integrity_errors,
        buffer_overruns,
        management_drops,
        data_sent,
        data_received,
        packets_sent,
        packets_received,
        counters
    };
    using values = std::array<std::uint64_t, counters>;

    values totals(unsigned number) const;
    unsigned select(const std::uint8_t* data, unsigned& first, unsigned& last) const;
    unsigned port_counters(bool set, std::uint8_t* data);
    unsigned extended_counters(bool set, std::uint8_t* data);
    values sum(const std::vector<values>& since, unsigned first, unsigned last) const;

    std::vector<const port*> m_ports;
    bool m_has_port_0;
    std::vector<values> m_since;           // totals that stand for 0, by port number
    std::vector<values> m_extended_since;  // the same of PortCountersExtended, which a Set of the others leaves alone
};

}  // namespace fabricvp::network
