// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/calendar.h"
#include "base/fault.h"
#include "link/faults.h"
#include "pcie/tlp.h"

namespace fabricvp {

template <>
struct choice_traits<pcie::flow_class> {
    static constexpr std::pair<pcie::flow_class, const char*> names[] = {{pcie::flow_class::posted, "posted"},
                                                                         {pcie::flow_class::non_posted, "non_posted"},
                                                                         {pcie::flow_class::completion, "completion"}};
};

}  // namespace fabricvp

namespace fabricvp::pcie {

class port;

/// What can go wrong on a link, as seen from the end that sends. A link stays faulty when its ends are reset or
/// software trains it: a fault ends by itself (`lasting`), or by another one (`retrain`).
class link_faults {
public:
    struct training_arguments {
        std::uint64_t lanes = 0, generation = 0;
        std::uint64_t max_lanes = 32, max_generation = 6;  ///< that both ends have
        void describe(parameter_visitor& v);
    };
    struct packet_arguments {
        flow_class flow = flow_class::posted;
        std::uint64_t count = 1;
        void describe(parameter_visitor& v);
    };
    struct credit_arguments {
        flow_class flow = flow_class::posted;
        std::uint64_t headers = 128;
        byte_size data{65536};
        void describe(parameter_visitor& v);
    };

    struct stuck_arguments : fault_duration_arguments {
        flow_class flow = flow_class::posted;
        void describe(parameter_visitor& v);
    };

    explicit link_faults(port& at);

    fault_kind<link::bit_error_arguments> bit_errors;
    fault_kind<fault_duration_arguments> link_down;
    fault_kind<training_arguments> retrain;
    fault_kind<packet_arguments> drop;
    fault_kind<packet_arguments> poison;
    fault_kind<credit_arguments> lose_credit;
    fault_kind<stuck_arguments> stuck;

    /// True while TLPs that are about to be sent must be looked at.
    bool any() const { return m_left; }
    /// \returns true if this one shall be dropped, true if it shall be poisoned; counts down
    bool drops(const tlp& t) { return takes(m_drop, t); }
    bool poisons(const tlp& t) { return t.carries_data() && takes(m_poison, t); }

    /// True while the link stays down, whatever software does.
    bool holds_down() const { return m_down; }
    /// What `retrain` has left of the link; 0: all that both ends have.
    std::uint64_t max_lanes() const { return m_limit.lanes; }
    unsigned max_generation() const { return static_cast<unsigned>(m_limit.generation); }
    /// After a reset of the port: bits go wrong as before.
    void restore();
    /// Everything is whole again, and what was ordered is forgotten.
    void repair();

private:
    struct pending {
        std::uint64_t left[flow_classes] = {};
    };
    bool takes(pending& p, const tlp& t);
    void clear_training();
    void release_queues();
    void add(pending& p, const packet_arguments& a);

    port& m_port;
    pending m_drop, m_poison;
    std::uint64_t m_left = 0;
    bool m_down = false;
    std::optional<double> m_bit_error_rate;  // as injected
    training_arguments m_limit;
    fault_end m_errors_end, m_down_end, m_stuck_end;
};

}  // namespace fabricvp::pcie
