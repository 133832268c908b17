// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace fabricvp::hca {

/// A command that moves a queue pair from state to state.
struct qp_transition {
    unsigned opcode;
    std::vector<unsigned> from;  ///< states
    unsigned to;
    std::vector<unsigned> fields;  ///< of the context, taken from the mailbox whatever its mask says
    std::uint32_t optional;        ///< attributes that its mask may give
};

/// Null for other commands.
const qp_transition* find_transition(unsigned opcode);
/// Copies what a transition takes out of a mailbox (mask, context).
void apply_transition(const qp_transition& t, std::uint8_t* context, const std::uint8_t* mailbox);

}  // namespace fabricvp::hca
