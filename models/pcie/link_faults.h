// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

/// What can go wrong on a link, as seen from the end that sends.
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

    explicit link_faults(port& at);

    fault_kind<link::bit_error_arguments> bit_errors;
    fault_kind<link::fault_duration_arguments> link_down;
    fault_kind<training_arguments> retrain;
    fault_kind<packet_arguments> drop;
    fault_kind<packet_arguments> poison;
    fault_kind<credit_arguments> lose_credit;

    /// True while TLPs that are about to be sent must be looked at.
    bool any() const { return m_left; }
    /// \returns true if this one shall be dropped, true if it shall be poisoned; counts down
    bool drops(const tlp& t) { return takes(m_drop, t); }
    bool poisons(const tlp& t) { return t.carries_data() && takes(m_poison, t); }

    /// Forgets what was ordered and has not happened yet.
    void reset();

private:
    struct pending {
        std::uint64_t left[flow_classes] = {};
    };
    bool takes(pending& p, const tlp& t);
    void add(pending& p, const packet_arguments& a);

    port& m_port;
    pending m_drop, m_poison;
    std::uint64_t m_left = 0;
    link::fault_end m_errors_end, m_down_end;
};

}  // namespace fabricvp::pcie
