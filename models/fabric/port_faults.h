// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/calendar.h"
#include "base/fault.h"
#include "fabric/packet.h"
#include "link/faults.h"

namespace fabricvp {

template <>
struct choice_traits<fabric::virtual_channel> {
    static constexpr std::pair<fabric::virtual_channel, const char*> names[] = {
        {fabric::virtual_channel::request, "request"},
        {fabric::virtual_channel::response, "response"},
        {fabric::virtual_channel::page_table_request, "page_table_request"},
        {fabric::virtual_channel::page_table_response, "page_table_response"}};
};

}  // namespace fabricvp

namespace fabricvp::fabric {

class port;

/// What can go wrong with one direction of a link, as seen from the end that sends. A link stays faulty when its ends
/// are reset: a fault ends by itself (`lasting`), or never.
class port_faults {
public:
    struct lane_arguments : fault_duration_arguments {
        std::uint64_t lanes = 1, max_lanes = 64;  ///< most: that this direction may ever have
        void describe(parameter_visitor& v);
    };
    struct stuck_arguments : fault_duration_arguments {
        virtual_channel channel = virtual_channel::request;
        void describe(parameter_visitor& v);
    };
    struct poison_arguments {
        std::uint64_t count = 1;
        void describe(parameter_visitor& v);
    };

    struct flip_arguments {
        std::uint64_t bit = 160;
        void describe(parameter_visitor& v);
    };

    explicit port_faults(port& at);

    fault_kind<link::bit_error_arguments> bit_errors;
    fault_kind<fault_duration_arguments> down;
    fault_kind<lane_arguments> lanes;
    fault_kind<stuck_arguments> stuck;
    fault_kind<poison_arguments> poison;
    fault_kind<flip_arguments> flip;
    fault_kind<> dead;

    /// Called by `dead`; die() then takes this end out of service.
    std::function<void()> on_failure;
    void fail();

    /// \returns true if this packet shall arrive poisoned; counts down
    bool poisons() { return m_poison && m_poison--; }

    /// Flips the bit that was ordered if the flits of this packet have it.
    void flip_in(packet& p) {
        if (!m_flips.empty()) flip_first_in(p);
    }

    /// Whether something was ordered for the next packets.
    bool ordered() const { return m_poison || !m_flips.empty(); }

    /// After a reset of the port: bits go wrong and nothing is sent as before.
    void restore();
    /// Everything is whole again, and what was ordered is forgotten.
    void repair();

private:
    void repair_lanes();
    void release_queues();
    void flip_first_in(packet& p);

    port& m_port;
    std::vector<std::uint64_t> m_flips;  // bits, each for a packet
    std::uint64_t m_poison = 0;
    bool m_down = false, m_dead = false;
    bool m_held = false;                     // whether the link is down for one of these
    std::optional<double> m_bit_error_rate;  // as injected
    struct lane_repair {
        ticks when;
        std::uint64_t lanes;
    };
    std::vector<lane_repair> m_repairs;  // by when
    fault_end m_errors_end, m_down_end, m_stuck_end;
    calendar_event m_lanes_repaired{method<&port_faults::repair_lanes>, this};
};

}  // namespace fabricvp::fabric
