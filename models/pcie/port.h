// SPDX-License-Identifier: Apache-2.0
// One end of a PCIe link (link/port.h): header and data credits of three flow classes, training, and what
// acknowledgements and credit updates take of the lanes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/parameters.h"
#include "base/statistics.h"
#include "link/port.h"
#include "pcie/link_faults.h"
#include "pcie/tlp.h"

namespace fabricvp::pcie {

struct port_params {
    std::uint64_t generation = 3;
    std::uint64_t width = 16;
    std::uint64_t max_payload = 256;  ///< bytes
    duration propagation{2'000};
    duration processing{50'000};  ///< from the head's arrival until the device behind may act on it
    std::uint64_t posted_headers = 64, non_posted_headers = 64, completion_headers = 64;
    byte_size posted_buffer{8192}, non_posted_buffer{1024}, completion_buffer{8192};
    duration credit_latency{50'000};  ///< from freeing a buffer to the partner's knowing of it
    std::uint64_t tlps_per_acknowledgement = 4;
    std::uint64_t tlps_per_credit_update = 2;
    double bit_error_rate = 0.0;
    duration retrain_time{20'000'000};
    std::uint64_t seed = 0;  ///< of the error process
    void describe(parameter_visitor& v);
};

/// Why the buffers of a port are too small for what comes over its link, in words that begin with one of its keys; else
/// empty.
std::string shortage(const port_params& here, const port_params& other_end);

class port;

/// What becomes of a link: it is down; it trains; it is up with all credits; it is up as before, but with another width
/// or speed; the device at the other end has been pulled out or plugged in.
enum class link_event { down, training, up, speed, removed, inserted };

/// The device behind a port.
class port_owner {
public:
    /// A TLP has arrived (its head, for cut-through) and been processed. The owner keeps it in the port's buffer until
    /// it calls port::release(); its last byte is there at t->tail.
    virtual void tlp_arrived(port& from, const tlp_ptr& t) = 0;
    /// A transmitter that could not send before may be able to now.
    virtual void transmitter_ready(port& from) = 0;
    /// Loader's and debugger's access that came in here. \returns bytes done
    virtual unsigned debug_request(port& from, tlp& t) = 0;

    /// TLPs under way and in either partner's credits are gone when a link is down.
    virtual void link_changed(port&, link_event) {}
    /// The link layer found errors: bits of the AER correctable status.
    virtual void link_errors(port&, std::uint32_t correctable) {}

protected:
    ~port_owner() = default;
};

struct port_traits {
    using protocol = link_protocol;
    using port = pcie::port;
    static constexpr unsigned classes = flow_classes, kinds = 2;  // headers, and data in units of 16 bytes
    using amounts = std::array<std::uint64_t, kinds>;
    static unsigned class_of(const tlp& t) { return static_cast<unsigned>(t.flow()); }
    static amounts credits_of(const tlp& t) { return {1, t.data_credits()}; }
    static std::string describe(unsigned c, const std::string& partner, const amounts& left, const amounts& initial);
};

using far_end = link::far_end<port_traits>;

class port final : public link::port<port_traits> {
public:
    const port_params params;

    counter tlps_sent{*this, "tlps_sent", "1", "TLPs sent"};
    counter payload_sent{*this, "payload_sent", "B", "payload bytes sent"};
    counter dropped{*this, "dropped", "1", "TLPs lost because the link was down"};
    counter link_downs{*this, "link_downs", "1", "times the link went down"};
    counter failed_trainings{*this, "failed_trainings", "1", "times it went down because training did not help"};
    counter refused_changes{*this, "refused_changes", "1", "changes of its state that need the other end here"};

    link_faults faults{*this};

    /// Where time goes. Its owner's: behind others in the FIFO of what came in here; and at the head of any FIFO, until
    /// the arbiter, this transmitter and the partner's buffer let it leave here.
    span_stage fifo_span{*this, "fifo"}, arbitration_span{*this, "arbitration"};
    /// For link-layer packets, replays, and the end of a TLP that is still arriving; lanes; wire; the receiver.
    span_stage lanes_span{*this, "lanes"}, serialisation_span{*this, "serialisation"}, wire_span{*this, "wire"},
        processing_span{*this, "processing"};
    /// The rest of a TLP after its head, at where it ends.
    span_stage tail_span{*this, "tail"};

    port(const sc_core::sc_module_name& name, const port_params& params, port_owner& owner);

    /// True if the lanes are free and the partner has room. Otherwise transmitter_ready() follows when it may be so.
    bool can_send(const tlp& t);
    /// Sends. \param tail_ready when the TLP's last byte is at hand \returns when its last byte has left
    ticks send(const tlp_ptr& t, ticks tail_ready);
    /// The lanes are free (credits apart), or the link is down and takes what will be lost.
    bool idle() const { return !m_up || link::port<port_traits>::idle(); }

    /// Frees the buffer of a received TLP at `when`.
    void release(tlp& t, ticks when);

    /// Debug access to whatever is beyond the link. \returns bytes done
    unsigned debug(tlp& t) { return tx->transport_dbg(t); }

    /// Takes the link down, at both ends: what is on the wire is lost.
    void take_down();
    /// The same; it does not train until train() is called again.
    void cut();
    /// Trains the link, at both ends: a link that is down comes up after the retrain time, one that is up pauses for as
    /// long. A fault may keep it down, or leave less of it. \param generation at most what both ends can do; 0: the
    /// most
    void train(unsigned generation = 0);
    bool up() const { return m_up; }
    bool training() const { return m_trained.scheduled() || (partner() && partner()->m_trained.scheduled()); }
    unsigned generation() const { return m_generation; }
    /// Lanes each way, as trained.
    std::uint64_t lanes() const { return duplex().configured(local_side()); }
    /// Keeps the link down (in hot reset, or disabled), or lets it train.
    void hold(bool down);
    /// Pulls the device at either end, or plugs it in again and trains.
    void set_present(bool present);
    bool present() const { return m_present; }

    void reset() override;

private:
    friend class link::port<port_traits>;
    friend class link_faults;
    friend void connect(port& a, port& b);
    friend void connect(port& here, far_end& there, const port_params& of_there);

    ticks arrival_time(tlp& t, ticks head);
    void arrived(const tlp_ptr& t);
    void ready() { m_owner.transmitter_ready(*this); }
    unsigned debug_access(tlp& t) { return m_owner.debug_request(*this, t); }

    /// Errors of TLPs that are on their way to here, known at `when`.
    void signalled(std::uint32_t errors, ticks when);
    void lost(tlp&) { ++dropped; }
    void plug(const port_params& other);
    void train_at_once();
    std::uint64_t max_lanes() const;
    unsigned max_generation() const;
    bool held_by_fault() const;
    bool changes_link();
    void trained();
    void report_errors();
    void drop_link();
    void set_link_state(std::uint64_t lanes, unsigned generation);
    bool inject_errors(tlp& t, const link::channel::transmission& transmission);
    static buffers room_of(const port_params& p);

    port_owner& m_owner;
    std::optional<port_params> m_other;  // what the other end can; none: there is no link
    unsigned m_generation = 1;
    bool m_up = true;
    bool m_present = true;
    bool m_held = false;
    std::uint32_t m_epoch = 0;                     // times the link was down
    std::uint32_t m_link_errors = 0;               // to be told to the owner
    bool m_failed = false;                         // a packet could not be got across
    std::uint64_t m_replays = 0, m_trainings = 0;  // of the transmitter, as seen last
    std::uint64_t m_received = 0;
    calendar_event m_trained{method<&port::trained>, this};
    calendar_event m_report_errors{method<&port::report_errors>, this};
};

/// Joins two ports to a link. Each one's buffers become the other's credits; width and generation become the lesser of
/// both.
void connect(port& a, port& b);
/// Joins a port to one in another simulation. TLPs, credits and errors get across. Training, hot reset and hot plug do
/// not: both ends change at one time, and no message can tell the other one in time.
void connect(port& here, far_end& there, const port_params& of_there);

}  // namespace fabricvp::pcie
