// SPDX-License-Identifier: Apache-2.0
// One end of an Ethernet link, full duplex (link/port.h): a queue of frames that wait to be sent. There is no flow
// control: the block behind a port that finds no room there waits or drops. Frames are handed over when their last byte
// has come. The two ends exchange nothing but frames, which take the cable's time of flight.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <boost/circular_buffer.hpp>

#include "base/parameters.h"
#include "base/statistics.h"
#include "ethernet/frame.h"
#include "link/arrivals.h"
#include "link/port.h"

namespace fabricvp::ethernet {

struct port_params {
    bandwidth rate{1'250'000'000};  ///< each way; a link has what both its ends and its cable can
    std::uint64_t queue = 64;       ///< frames that wait to be sent
    void describe(parameter_visitor& v);
};

/// A cable.
struct link_params {
    bandwidth rate{50'000'000'000};  ///< at most, each way
    duration propagation{50'000};    ///< time of flight; 5 ns/m
    void describe(parameter_visitor& v);
};

class port;

/// The block behind a port.
class port_owner {
public:
    virtual void frame_arrived(port& at, const frame_ptr& f) = 0;
    /// port::has_space() was false and is true now.
    virtual void space_available(port& at) = 0;

protected:
    ~port_owner() = default;
};

struct port_traits {
    using protocol = link_protocol;
    using port = ethernet::port;
    static constexpr unsigned classes = 1, kinds = 1;
    using amounts = std::array<std::uint64_t, kinds>;
    static unsigned class_of(const frame&) { return 0; }
    static amounts credits_of(const frame&) { return {0}; }
    static std::string describe(unsigned, const std::string& partner, const amounts&, const amounts&) {
        return "nothing of " + partner;
    }
};

using far_end = link::far_end<port_traits>;
using arrival_order = link::arrival_order<port, frame_ptr>;

class port final : public link::port<port_traits>, public link::arrival_end<port, frame_ptr> {
public:
    const port_params params;
    const unsigned index;  ///< among its owner's ports

    counter frames_offered{*this, "frames_offered", "1", "frames that the block behind this port handed over"};
    counter frames_sent{*this, "frames_sent", "1", "frames sent"};
    counter bytes_sent{*this, "bytes_sent", "B", "bytes sent, from the destination address to the end of the payload"};
    counter frames_received{*this, "frames_received", "1", "frames handed to the block behind this port"};
    counter bytes_received{*this, "bytes_received", "B",
                           "bytes received, from the destination address to the end of the payload"};
    counter dropped{*this, "dropped", "1", "frames for which there was no room, or no link"};

    port(const sc_core::sc_module_name& name, const port_params& params, port_owner& owner, unsigned index = 0);

    /// True if one frame more may wait. Otherwise port_owner::space_available() follows.
    bool has_space() {
        if (m_queue.size() < params.queue) return true;
        m_space_requested = true;
        return false;
    }
    /// Sends a frame, which is the network's from here on; without room or a link it is dropped and counted.
    void send(const frame_ptr& f);

    /// Frames that wait to be sent.
    std::size_t waiting() const { return m_queue.size(); }

    /// True if a cable leads to another end.
    bool connected() const { return m_connected; }

    /// Hands over what has arrived.
    void deliver(const frame_ptr& f);

    void reset() override;

private:
    friend class link::port<port_traits>;
    friend void connect(port& a, port& b, const link_params& cable);
    friend void connect(port& here, far_end& there, const port_params& of_there, const link_params& cable);

    void before_end_of_elaboration() override;
    ticks arrival_time(frame&, ticks arrival) { return arrival; }
    void arrived(const frame_ptr& f) { hand_over(f); }
    void ready() { transmit(); }
    unsigned debug_access(frame&) { return 0; }
    void transmit();
    void settle();
    void plug(const port_params& other, const link_params& cable);

    port_owner& m_owner;
    boost::circular_buffer<frame_ptr> m_queue;
    link_params m_cable;
    bandwidth m_other_rate;  // what the other end can
    bool m_connected = false, m_space_requested = false;
};

/// Joins two ports by a cable.
void connect(port& a, port& b, const link_params& cable = {});
/// Joins a port by a cable to one in another simulation.
void connect(port& here, far_end& there, const port_params& of_there, const link_params& cable = {});

}  // namespace fabricvp::ethernet
