// SPDX-License-Identifier: Apache-2.0
// The capabilities that functions of this platform declare, register by register as in the PCI Express Base and PCI-PM
// specifications. Each function returns the offset at which the capability stands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/pci.h"
#include "pcie/configuration_space.h"

namespace fabricvp::pcie {

/// Capability IDs.
enum capability_id : std::uint8_t {
    power_management_id = PCI_CAPABILITY_PM,
    msi_id = PCI_CAPABILITY_MSI,
    msi_x_id = PCI_CAPABILITY_MSIX,
    express_id = PCI_CAPABILITY_EXPRESS
};
enum extended_capability_id : std::uint16_t {
    aer_id = PCI_EXTENDED_AER,
    serial_number_id = PCI_EXTENDED_SERIAL,
    acs_id = PCI_EXTENDED_ACS,
    ari_id = PCI_EXTENDED_ARI,
    resizable_bar_id = PCI_EXTENDED_RESIZABLE_BAR
};

/// Device/port type field of the PCI Express capability.
enum class port_type : unsigned {
    endpoint = PCI_PORT_ENDPOINT,
    root_port = PCI_PORT_ROOT,
    switch_upstream = PCI_PORT_UPSTREAM,
    switch_downstream = PCI_PORT_DOWNSTREAM,
    root_complex_endpoint = PCI_PORT_INTEGRATED
};

/// Offsets inside the capabilities that models read and set (abi/pci.h).
namespace express {
inline constexpr std::size_t device_capabilities = PCI_EXPRESS_DEVICE_CAPABILITIES,
                             device_control = PCI_EXPRESS_DEVICE_CONTROL, device_status = PCI_EXPRESS_DEVICE_STATUS,
                             link_capabilities = PCI_EXPRESS_LINK_CAPABILITIES, link_control = PCI_EXPRESS_LINK_CONTROL,
                             link_status = PCI_EXPRESS_LINK_STATUS, slot_capabilities = PCI_EXPRESS_SLOT_CAPABILITIES,
                             slot_control = PCI_EXPRESS_SLOT_CONTROL, slot_status = PCI_EXPRESS_SLOT_STATUS,
                             root_control = PCI_EXPRESS_ROOT_CONTROL, root_status = PCI_EXPRESS_ROOT_STATUS,
                             device_capabilities_2 = PCI_EXPRESS_DEVICE_CAPABILITIES_2,
                             device_control_2 = PCI_EXPRESS_DEVICE_CONTROL_2,
                             link_capabilities_2 = PCI_EXPRESS_LINK_CAPABILITIES_2,
                             link_control_2 = PCI_EXPRESS_LINK_CONTROL_2;
}
namespace aer {
inline constexpr std::size_t uncorrectable_status = PCI_AER_UNCORRECTABLE_STATUS,
                             uncorrectable_mask = PCI_AER_UNCORRECTABLE_MASK,
                             uncorrectable_severity = PCI_AER_UNCORRECTABLE_SEVERITY,
                             correctable_status = PCI_AER_CORRECTABLE_STATUS,
                             correctable_mask = PCI_AER_CORRECTABLE_MASK, capabilities = PCI_AER_CAPABILITIES,
                             header_log = PCI_AER_HEADER_LOG, root_command = PCI_AER_ROOT_COMMAND,
                             root_status = PCI_AER_ROOT_STATUS, error_source = PCI_AER_ERROR_SOURCE;
/// Bits of the uncorrectable status.
inline constexpr std::uint32_t data_link_protocol = 1u << 4, surprise_down = 1u << 5, poisoned = 1u << 12,
                               completion_timeout = 1u << 14, completer_abort = 1u << 15,
                               unexpected_completion = 1u << 16, malformed = 1u << 18, unsupported_request = 1u << 20,
                               acs_violation = 1u << 21;
/// Bits of the correctable status.
inline constexpr std::uint32_t receiver_error = 1u << 0, bad_tlp = 1u << 6, bad_dllp = 1u << 7,
                               replay_rollover = 1u << 8, replay_timeout = 1u << 12, advisory = 1u << 13;
}  // namespace aer

struct express_settings {
    port_type type = port_type::endpoint;
    unsigned generation = 3;            ///< 1 to 6
    unsigned width = 16;                ///< lanes
    unsigned max_payload = 256;         ///< largest supported, 128 to 4096 bytes
    unsigned completion_boundary = 64;  ///< of a root port, 64 or 128 bytes
    unsigned port_number = 0;
    bool function_level_reset = false;
    bool atomic_completer = false;
    bool atomic_routing = false;
    bool ari_forwarding = false;
    bool hot_plug_surprise = false;  ///< downstream ports: the slot reports surprise removal
    unsigned slot_number = 0;
};

std::size_t add_power_management(configuration_space& c);
/// \param vectors 1 to 2048; table and pending bits lie in BAR `bar` at 8-byte aligned offsets
std::size_t add_msi_x(configuration_space& c, unsigned vectors, unsigned bar, std::uint32_t table_offset,
                      std::uint32_t pending_offset);
/// MSI with one vector and a 64-bit address.
std::size_t add_msi(configuration_space& c);
std::size_t add_express(configuration_space& c, const express_settings& s);
/// `root` adds the registers of a root port.
std::size_t add_aer(configuration_space& c, bool root);
std::size_t add_serial_number(configuration_space& c, std::uint64_t eui64);
/// Access control services of a switch's downstream port: request redirect.
std::size_t add_acs(configuration_space& c);
std::size_t add_ari(configuration_space& c, unsigned next_function);
/// One resizable BAR. \param sizes bit n set: 2^n MiB is supported; \param current log2 of its size in MiB
std::size_t add_resizable_bar(configuration_space& c, unsigned bar, std::uint32_t sizes, unsigned current);

/// Code of a payload size in the Max_Payload_Size and Max_Read_Request_Size fields. \param bytes 128 to 4096, a power
/// of two
constexpr unsigned payload_code(unsigned bytes) {
    unsigned code = 0;
    while ((128u << code) < bytes) ++code;
    return code;
}
/// Bytes that a TLP may carry: the Max_Payload_Size field of Device Control.
constexpr std::uint32_t max_payload_of(std::uint64_t device_control) { return 128u << (device_control >> 5 & 7); }

}  // namespace fabricvp::pcie
