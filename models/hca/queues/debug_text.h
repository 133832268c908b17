// SPDX-License-Identifier: Apache-2.0
// Entries of queues in words, for logs and debuggers.
#pragma once

#include <cstdint>
#include <string>

#include "base/bus_log.h"
#include "hca/queues/queue_pair.h"

namespace fabricvp::hca {

/// Adapters tell of doorbells, work queue entries and completions.
inline bus_log::channel bus_log_channel{"hca", "qp"};

/// "write", "fetch and add", …; "opcode 0x1f" where there is no such.
std::string opcode_name(unsigned opcode);
/// "RTS", "error", …
std::string state_name(unsigned state);
/// "reliable connection", …
std::string type_name(unsigned type);
/// "remote access error", …; "syndrome 0x7f" where there is no such.
std::string syndrome_name(unsigned syndrome);

/// A send entry as the adapter has decoded it.
std::string text_of(const send_wqe& e);
std::string text_of(const receive_wqe& e);
/// \param cqe HCA_CQE_SIZE bytes as they stand in memory
std::string text_of_completion(const std::uint8_t* cqe);
bool is_error(const std::uint8_t* cqe);

/// Type, state, what it is connected to, how many entries are outstanding; one line without a line feed.
std::string summary_of(const queue_pair& q);
/// What it is connected to, how far its queues have come, and every entry that the adapter holds; several lines.
std::string text_of(const queue_pair& q);

}  // namespace fabricvp::hca
