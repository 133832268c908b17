// SPDX-License-Identifier: Apache-2.0
#include "fabric/netcrafter/ingress.h"

namespace fabricvp::fabric::netcrafter {

arrival_plan ingress::announced(const packet& p) {
    if (!p.carried) return ingress_stage::announced(p);
    const auto& unit = static_cast<const wire_unit&>(*p.carried);
    return {m_unstitcher.destination_of(unit), unit.parts.size() > 1, 0, m_latency};
}

const char* ingress::take(const packet_ptr& p, packet_list& complete) {
    if (!p->carried) {
        complete.push_back(p);
        return nullptr;
    }
    return m_unstitcher.take(static_cast<wire_unit&>(*p->carried), p->status != access_status::ok, complete);
}

void ingress::reset() {
    m_unstitcher.reset();
    ingress_stage::reset();
}

}  // namespace fabricvp::fabric::netcrafter
