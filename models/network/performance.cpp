// SPDX-License-Identifier: Apache-2.0
#include "network/performance.h"

#include <algorithm>
#include <cstring>

#include "abi/hca_mad.h"

namespace fabricvp::network {

namespace {

struct counter_field {
    unsigned field;
    std::uint64_t max;  ///< at which it stays
};

/// PortCounters, in the order of CounterSelect's bits.
constexpr counter_field fields[] = {{HCA_COUNTER_SYMBOL_ERRORS, 0xffff},
                                    {HCA_COUNTER_LINK_RECOVERIES, 0xff},
                                    {HCA_COUNTER_LINK_DOWNS, 0xff},
                                    {HCA_COUNTER_RECEIVE_ERRORS, 0xffff},
                                    {HCA_COUNTER_REMOTE_PHYSICAL_ERRORS, 0xffff},
                                    {HCA_COUNTER_RELAY_ERRORS, 0xffff},
                                    {HCA_COUNTER_TRANSMIT_DISCARDS, 0xffff},
                                    {HCA_COUNTER_TRANSMIT_CONSTRAINT_ERRORS, 0xff},
                                    {HCA_COUNTER_RECEIVE_CONSTRAINT_ERRORS, 0xff},
                                    {HCA_COUNTER_INTEGRITY_ERRORS, 0xf},
                                    {HCA_COUNTER_BUFFER_OVERRUNS, 0xf},
                                    {HCA_COUNTER_MANAGEMENT_DROPS, 0xffff},
                                    {HCA_COUNTER_SENT, 0xffff'ffff},
                                    {HCA_COUNTER_RECEIVED, 0xffff'ffff},
                                    {HCA_COUNTER_PACKETS_SENT, 0xffff'ffff},
                                    {HCA_COUNTER_PACKETS_RECEIVED, 0xffff'ffff}};
/// Offsets of PortCountersExtended's, of 64 bits, in the order of its CounterSelect's bits.
constexpr unsigned extended_fields[] = {HCA_EXTENDED_SENT, HCA_EXTENDED_RECEIVED, HCA_EXTENDED_PACKETS_SENT,
                                        HCA_EXTENDED_PACKETS_RECEIVED};
constexpr unsigned data_bytes = HCA_MAD_SIZE - HCA_MAD_DATA, all_ports = 0xff, response_time = 18;

}  // namespace

performance_agent::performance_agent(std::vector<const port*> ports, bool has_port_0)
    : m_ports(std::move(ports)),
      m_has_port_0(has_port_0),
      m_since(m_ports.size() + 1),
      m_extended_since(m_ports.size() + 1) {}

performance_agent::values performance_agent::totals(unsigned number) const {
    values v{};
    if (number == 0) return v;
    const auto& p = *m_ports[number - 1];
    const auto& c = p.errors;
    v[symbol_errors] = c.symbol_errors;
    v[link_downs] = p.link_downs.total();
    v[receive_errors] = c.receive_errors;
    v[remote_physical_errors] = c.remote_physical_errors;
    v[relay_errors] = c.relay_errors;
    v[transmit_discards] = c.transmit_discards;
    v[management_drops] = c.management_drops;
    constexpr std::uint64_t vcrc_bytes = 2;  // which the Specification leaves out
    v[data_sent] = (p.bytes_sent.total() - vcrc_bytes * p.packets_sent.total()) / 4;
    v[data_received] = c.octets_received / 4;
    v[packets_sent] = p.packets_sent.total();
    v[packets_received] = p.packets_received.total();
    return v;
}

void performance_agent::clear() {
    for (unsigned n = 0; n < m_since.size(); ++n) m_since[n] = m_extended_since[n] = totals(n);
}

performance_agent::values performance_agent::sum(const std::vector<values>& since, unsigned first,
                                                 unsigned last) const {
    values all{};
    for (auto n = first; n <= last; ++n) {
        const auto now = totals(n);
        for (unsigned i = 0; i < counters; ++i) all[i] += now[i] - since[n][i];
    }
    return all;
}

unsigned performance_agent::process(bool set, unsigned attribute, std::uint8_t* data) {
    switch (attribute) {
        case HCA_MAD_CLASS_PORT_INFO:
            if (set) return HCA_MAD_BAD_ATTRIBUTE;
            std::memset(data, 0, data_bytes);
            data[0] = data[1] = 1;  // base and class version
            hca_set(data, HCA_CLASS_CAPABILITIES, HCA_PERFORMANCE_ALL_PORTS | HCA_PERFORMANCE_EXTENDED);
            hca_put32(data + 4, response_time);
            return 0;
        case HCA_MAD_PORT_COUNTERS: return port_counters(set, data);
        case HCA_MAD_PORT_COUNTERS_EXTENDED: return extended_counters(set, data);
        default: return HCA_MAD_BAD_ATTRIBUTE;
    }
}

unsigned performance_agent::select(const std::uint8_t* data, unsigned& first, unsigned& last) const {
    const auto number = hca_get(data, HCA_COUNTER_PORT);
    first = number == all_ports ? 1 : number;
    last = number == all_ports ? static_cast<unsigned>(m_ports.size()) : number;
    return last > m_ports.size() || (number == 0 && !m_has_port_0) ? unsigned{HCA_MAD_BAD_FIELD} : 0;
}

unsigned performance_agent::port_counters(bool set, std::uint8_t* data) {
    unsigned first = 0, last = 0;
    if (const auto status = select(data, first, last)) return status;
    const auto selected = hca_get(data, HCA_COUNTER_SELECT), number = hca_get(data, HCA_COUNTER_PORT);
    for (auto n = first; set && n <= last; ++n) {
        const auto now = totals(n);
        for (unsigned i = 0; i < counters; ++i)
            if (selected >> i & 1) m_since[n][i] = now[i] - hca_get(data, fields[i].field);
    }
    const auto shown = sum(m_since, first, last);
    std::memset(data, 0, data_bytes);
    hca_set(data, HCA_COUNTER_PORT, number);
    hca_set(data, HCA_COUNTER_SELECT, selected);
    for (unsigned i = 0; i < counters; ++i)
        hca_set(data, fields[i].field, static_cast<std::uint32_t>(std::min(shown[i], fields[i].max)));
    return 0;
}

unsigned performance_agent::extended_counters(bool set, std::uint8_t* data) {
    unsigned first = 0, last = 0;
    if (const auto status = select(data, first, last)) return status;
    const auto selected = hca_get(data, HCA_COUNTER_SELECT), number = hca_get(data, HCA_COUNTER_PORT);
    for (auto n = first; set && n <= last; ++n) {
        const auto now = totals(n);
        for (unsigned i = 0; i < std::size(extended_fields); ++i)
            if (selected >> i & 1)
                m_extended_since[n][data_sent + i] = now[data_sent + i] - hca_get64(data + extended_fields[i]);
    }
    const auto shown = sum(m_extended_since, first, last);
    std::memset(data, 0, data_bytes);
    hca_set(data, HCA_COUNTER_PORT, number);
    hca_set(data, HCA_COUNTER_SELECT, selected);
    for (unsigned i = 0; i < std::size(extended_fields); ++i)
        hca_put64(data + extended_fields[i], shown[data_sent + i]);
    return 0;
}

}  // namespace fabricvp::network
