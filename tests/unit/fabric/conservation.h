// SPDX-License-Identifier: Apache-2.0
// Whenever a test case ends with everything at rest, and at the latest when the program ends, every fabric has kept
// count. What devices have sent since the last reset has arrived, or they were told that it failed, once each; only
// what waits at a link that is down may be under way. So every test of a fabric is one of conservation, too.
#pragma once

#include <functional>
#include <string>

#include <fmt/format.h>
#include <systemc>

#include "base/calendar.h"
#include "fabric/interconnect.h"
#include "unit/after_each_test.h"

namespace fabricvp::test {

/// A fault lets nothing be sent over one of its links for the time being. (Dead links are another matter: nothing waits
/// there.)
inline bool has_link_down(const fabric::interconnect& net) {
    for (const auto& l : net.links())
        for (const auto* p : {l.a, l.b})
            if (!p->transmitter.up() && p->faults.down.injected.total() + p->faults.lanes.injected.total()) return true;
    return false;
}

/// \param last lets all fabrics come to rest before \returns what is wrong
inline std::string lost_packets(bool last) {
    std::vector<const fabric::interconnect*> nets;
    for (const auto* o : sc_core::sc_get_top_level_objects())
        if (const auto* net = dynamic_cast<const fabric::interconnect*>(o)) nets.push_back(net);
    if (nets.empty()) return {};
    auto& c = calendar::current();
    const auto limit = c.now() + 1'000'000'000;
    while (last && c.next_event_time() != never && c.next_event_time() < limit) c.run_until(c.next_event_time());
    if (c.next_event_time() != never) return {};
    std::string wrong;
    for (const auto* net : nets) {
        const auto left = snapshot_statistics(net->packets_in_flight.path()).begin()->second;
        if (left != 0 && !(left > 0 && has_link_down(*net)))
            wrong += fmt::format("{} packets of {} have neither arrived nor failed; ", left, net->name());
    }
    return wrong;
}

inline const bool conservation_is_checked = (after_each_test().push_back(lost_packets), true);

}  // namespace fabricvp::test
