// SPDX-License-Identifier: Apache-2.0
// AQL packets in words, for logs and debuggers.
#pragma once

#include <cstdint>
#include <string>

#include "abi/aql.h"

namespace fabricvp::gpu {

/// The type of a packet by its header: "kernel dispatch", "barrier-AND", …; "type 0x7f" where there is no such.
std::string packet_type(std::uint16_t header);
/// A packet as memory has it: type, what it does with which addresses, signal, order.
/// \param packet 64 bytes \param kernel name of a kernel dispatch's kernel
std::string text_of_packet(const std::uint8_t* packet, const std::string& kernel);
/// "malformed packet", … (enum gpu_fault)
std::string fault_text(std::uint32_t fault);

}  // namespace fabricvp::gpu
