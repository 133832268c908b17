// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fabric/packet.h"

namespace fabricvp::fabric {

/// Gives each 16-byte sector of a packet that no memory stands behind contents of its own: half of it follows
/// from its address, half from source, destination and the request's number. So both ends can check every byte.
void sign(packet& p, unsigned requester, unsigned server);
/// Whether `sectors` of it are as they were signed; of a page-table response, the entry that it brings.
bool intact(const packet& p, unsigned requester, unsigned server, unsigned sectors);

}  // namespace fabricvp::fabric
