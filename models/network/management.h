// SPDX-License-Identifier: Apache-2.0
// What the subnet management agents of switches and channel adapters have in common (InfiniBand Architecture
// Specification, volume 1, chapter 14): the way of directed-route packets, and the attributes that every node and port
// has.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "abi/hca_mad.h"
#include "network/port.h"

namespace fabricvp::network {

using mad = std::array<std::uint8_t, HCA_MAD_SIZE>;

/// What NodeInfo and NodeDescription say.
struct node_attributes {
    unsigned type = HCA_NODE_CHANNEL_ADAPTER, ports = 1, device = 0, revision = 0;
    std::uint64_t system_guid = 0, node_guid = 0, port_guid = 0;
    std::string description;
};

/// What PortInfo says of one port.
struct port_attributes {
    std::uint64_t m_key = 0, gid_prefix = 0xfe80'0000'0000'0000;
    std::vector<std::uint64_t> guids;  ///< the first is the port's own
    std::vector<std::uint16_t> pkeys;
    std::uint16_t lid = 0, sm_lid = 0, m_key_lease = 0;
    std::uint32_t capabilities = 0;
    unsigned lmc = 0, sm_sl = 0, subnet_timeout = 18;
    unsigned state = 1, physical_state = 2;  ///< Down, Polling
    unsigned width_supported = 3, width_enabled = 3, width_active = 2;
    unsigned speed_supported = 1, speed_enabled = 1, speed_active = 1;  // 1 SDR, 2 DDR, 4 QDR
    unsigned extended_supported = 0, extended_active = 0;               // 1 FDR, 2 EDR, 4 HDR, 8 NDR
    unsigned mtu_supported = 4, mtu_active = 4, lanes_supported = 1, lanes_operational = 1;
    unsigned high_limit = 0, arbitration_entries = 0;
    std::uint16_t pkey_violations = 0, qkey_violations = 0;
};

/// GUID of an adapter's node unless it is given, an EUI-64 that follows from its path; its port has the next one.
std::uint64_t adapter_guid(const std::string& path);
/// The same of a switch and its port 0, by its number in the subnet.
std::uint64_t switch_guid(unsigned number);

inline constexpr unsigned switch_device = 0xb924;  ///< of all switches: as an InfiniScale III says

unsigned mtu_code(std::uint64_t bytes);
constexpr std::uint64_t mtu_bytes(unsigned code) { return std::uint64_t{128} << code; }
unsigned lanes_code(std::uint64_t data_lanes);

/// What a port can, as PortInfo numbers it.
void set_capability_fields(port_attributes& a, const port_params& p);
/// What both ends of its link can, where no subnet manager has to settle it: MTU and virtual lanes.
void show_shared(port_attributes& a, const port& p);
/// State, speed and width of its link, as they are now.
void show_link(port_attributes& a, const port& p);

void write_node_info(std::uint8_t* data, const node_attributes& n, std::size_t pkeys, unsigned local_port);
void write_description(std::uint8_t* data, const std::string& text);
void write_port_info(std::uint8_t* data, const port_attributes& a, unsigned local_port);

// Each returns the status of the response; `data` is the request's on entry and the response's on return.

/// Set(PortInfo) of what a port with a LID keeps. Fields that have no place in hardware's hands, or whose value 0 means
/// "as it is", are left alone.
unsigned set_addresses(port_attributes& a, const std::uint8_t* data);
/// Set(PortInfo) of what a link's end does: arm, activate, train anew; MTU and lanes that both ends can.
unsigned set_link(port_attributes& a, port& p, const std::uint8_t* data);
/// GUIDInfo: blocks of eight. The first GUID cannot be changed.
unsigned guid_table(bool set, std::uint32_t block, std::vector<std::uint64_t>& guids, std::uint8_t* data);
/// P_KeyTable: blocks of 32.
unsigned pkey_table(bool set, std::uint32_t block, std::vector<std::uint16_t>& keys, std::uint8_t* data);
/// VLArbitrationTable: blocks 1 and 2 are the halves of the low-priority table, 3 and 4 those of the other; only first
/// halves are there.
inline constexpr unsigned arbitration_entries = 32;
unsigned arbitration_table(bool set, unsigned block, lane_arbiter& arbiter, std::uint8_t* data);
/// SLtoVLMappingTable. \param lane of a service level, to be read or written
unsigned lane_table(bool set, std::uint8_t* data, const std::function<std::uint8_t(unsigned sl)>& lane,
                    const std::function<void(unsigned sl, std::uint8_t lane)>& set_lane);

/// Where a directed-route packet goes.
enum class route_step : std::uint8_t { here, onward, nowhere };
/// Brings hop pointer and return path of one that has come in by port `input` up to date (14.2.2). \param ports of the
/// node; a node that passes nothing on says 0 \param output port by which it goes onward
route_step follow_route(std::uint8_t* data, unsigned input, unsigned ports, unsigned& output);

/// Whether a packet is a management datagram of the length that it must have.
bool holds_mad(const packet& p);
/// Turns a request that has ended here into its response, in a packet of its own. \param lid the node's \param output
/// port by which a directed-route response leaves; as it was for others, whose way follows from their destination
packet_ptr make_response(const packet& request, mad& data, unsigned status, std::uint16_t lid, unsigned& output);

}  // namespace fabricvp::network
