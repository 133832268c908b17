// SPDX-License-Identifier: Apache-2.0
#include "fabric/stage_data.h"

#include <algorithm>
#include <utility>

#include "fabric/port.h"

namespace fabricvp::fabric {

packet_ptr make_bundle(port& out, packet_list packets, std::uint32_t bytes) {
    static pool<packet_bundle> bundles;
    const auto bundle = bundles.make();
    const auto carrier = make_packet();
    const auto& head = *packets.front();
    carrier->type = head.type;
    carrier->vc = head.vc;
    carrier->route = head.route;
    carrier->destination = head.destination;
    carrier->set_bytes(out.format, bytes);
    bundle->used = carrier->bytes;
    bundle->flits = std::exchange(carrier->flits, 0);
    for (const auto& p : packets) {
        out.take_credit(p->channel(), p->flits);
        carrier->tail = std::max(carrier->tail, p->tail);
    }
    bundle->packets = std::move(packets);
    carrier->carried = boost::intrusive_ptr(bundle).detach();
    return carrier;
}

}  // namespace fabricvp::fabric
