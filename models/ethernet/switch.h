// SPDX-License-Identifier: Apache-2.0
// A learning switch (IEEE 802.1D without spanning tree: its networks have no rings). It has all of a frame before it
// passes it on, to the port where it has last heard the destination, else to all others. What finds no room at an
// output is dropped.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/model.h"
#include "ethernet/port.h"

namespace fabricvp::ethernet {

struct switch_params {
    port_params port;
    duration latency{500'000};             ///< from a frame's last byte at the input to its leaving
    std::uint64_t addresses = 4096;        ///< stations that it remembers
    duration ageing{300'000'000'000'000};  ///< a station that has been silent for so long is forgotten
    void describe(parameter_visitor& v);
};

class ethernet_switch final : public model, private port_owner {
public:
    const switch_params params;

    counter forwarded{*this, "forwarded", "1", "frames passed on to the port of their destination"};
    counter flooded{*this, "flooded", "1", "frames passed on to all other ports"};
    counter filtered{*this, "filtered", "1", "frames whose destination is where they came from"};

    std::vector<std::unique_ptr<port>> ports;

    ethernet_switch(const sc_core::sc_module_name& name, const switch_params& params,
                    const std::vector<std::string>& port_names);

    /// The port behind which a station was last heard; null if it is not known.
    const port* port_of(address station) const;

    void reset() override;

private:
    void frame_arrived(port& at, const frame_ptr& f) override;
    void space_available(port&) override {}
    void learn(address station, unsigned input);
    void forward();

    struct station {
        unsigned port;
        ticks last_seen;
    };
    struct waiting {
        ticks when;
        unsigned input;
        frame_ptr frame;
    };
    std::map<address, station> m_stations;
    std::deque<waiting> m_waiting;
    calendar_event m_forward{method<&ethernet_switch::forward>, this};
};

}  // namespace fabricvp::ethernet
