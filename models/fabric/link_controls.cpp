// SPDX-License-Identifier: Apache-2.0
#include "fabric/link_controls.h"

#include "fabric/interconnect.h"

namespace fabricvp::fabric {

namespace {

/// Which switch a port belongs to; null if it is a device's.
fabric_switch* switch_of(interconnect& net, const port& p) {
    for (auto& s : net.switches)
        if (p.index < s->ports() && &s->at(p.index) == &p) return s.get();
    return nullptr;
}

}  // namespace

std::vector<link_control> controls_at(const terminal& device) {
    auto* net = dynamic_cast<interconnect*>(device.get_parent_object());
    if (!net || !device.link) return {};
    const auto lanes = [](port& p) { return fabricvp::link::programmable_policy::of(p.duplex()); };
    for (const auto& l : net->links()) {
        if (l.a != device.link.get() && l.b != device.link.get()) continue;
        auto* at = switch_of(*net, l.a == device.link.get() ? *l.b : *l.a);
        if (!at) return {{l.lanes ? lanes(*l.a) : nullptr, nullptr}};
        std::vector<link_control> all(at->ports());
        for (unsigned i = 0; i < at->ports(); ++i)
            all[i] = {lanes(at->at(i)), dynamic_cast<netcrafter::controller*>(&at->egress_of(i))};
        return all;
    }
    return {};
}

}  // namespace fabricvp::fabric
