// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fabricvp::link {

/// Phases on the sockets of links with credits: a packet goes forward; its credits come backward when it has left the
/// receiver's buffer.
enum class phase { transfer, credit_return };

}  // namespace fabricvp::link
