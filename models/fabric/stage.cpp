// SPDX-License-Identifier: Apache-2.0
#include "fabric/stage.h"

namespace fabricvp::fabric {

void unpack(const packet_ptr& p, packet_list& complete) {
    if (!p->carried) return complete.push_back(p);
    for_each_packet(*p, [&](packet& each) {
        if (p->status != access_status::ok) each.status = p->status;
        complete.push_back(packet_ptr(&each));
    });
}

}  // namespace fabricvp::fabric
