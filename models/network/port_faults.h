// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "base/calendar.h"
#include "base/fault.h"
#include "link/faults.h"
#include "network/packet.h"

namespace fabricvp {

template <>
struct choice_traits<network::corruption> {
    static constexpr std::pair<network::corruption, const char*> names[] = {{network::corruption::link, "link"},
                                                                            {network::corruption::payload, "payload"}};
};

}  // namespace fabricvp

namespace fabricvp::network {

class port;

/// What can go wrong on a link, as seen from the end that sends. A cable stays faulty when its ends are reset. Nothing
/// is sent again here: that is the channel
/// adapters' affair.
class port_faults {
public:
    struct loss_arguments : fault_duration_arguments {
        double rate = 0.01;
        void describe(parameter_visitor& v);
    };
    struct drop_arguments {
        std::uint64_t count = 1;
        void describe(parameter_visitor& v);
    };
    struct corrupt_arguments {
        std::uint64_t count = 1;
        corruption where = corruption::link;
        void describe(parameter_visitor& v);
    };

    struct duplicate_arguments {
        std::uint64_t count = 1;
        void describe(parameter_visitor& v);
    };
    struct stuck_arguments : fault_duration_arguments {
        std::uint64_t lane = 0;
        void describe(parameter_visitor& v);
    };

    explicit port_faults(port& at);

    fault_kind<link::bit_error_arguments> bit_errors;
    fault_kind<loss_arguments> loss;
    fault_kind<drop_arguments> drop;
    fault_kind<duplicate_arguments> duplicate;
    fault_kind<corrupt_arguments> corrupt;
    fault_kind<stuck_arguments> stuck;
    fault_kind<fault_duration_arguments> down;

    /// The cable's.
    void set_bit_error_rate(double rate, std::uint64_t seed);

    /// True while packets that are about to be sent must be looked at.
    bool any() const { return m_any; }
    /// Spoils the packet if its turn has come. \returns true if it gets lost
    bool apply(packet& p);
    /// \returns true if this packet shall be sent twice; counts down
    bool duplicates();

    /// After a reset the same happens again: random numbers begin anew. What was injected stays.
    void restart_stream();
    /// True while the link stays down, whatever software does.
    bool holds_down() const { return m_down; }

private:
    void update_active();
    double draw();
    void set_rate(double rate);
    void draw_gap();
    void flip_bits(packet& p);

    port& m_port;
    bool m_any = false, m_down = false;
    double m_cable_rate = 0, m_bit_error_rate = 0, m_loss = 0;
    std::uint64_t m_drop = 0, m_duplicate = 0, m_corrupt_link = 0, m_corrupt_payload = 0;
    std::uint64_t m_gap = 0;  // good bits until the next bad one
    std::uint64_t m_seed = 0;
    std::unique_ptr<std::mt19937_64> m_random;  // made when something is drawn
    fault_end m_errors_end, m_loss_end, m_down_end, m_stuck_end;
};

}  // namespace fabricvp::network
