// SPDX-License-Identifier: Apache-2.0
#include "pcie/port.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/counted_warning.h"
#include "base/log.h"
#include "link/far_end.h"
#include "pcie/capabilities.h"
#include "pcie/link_speed.h"

namespace fabricvp::pcie {

namespace {

link::channel_params channel_of(const port_params& p) {
    link::channel_params c;
    c.lanes = p.width;
    c.lane_rate = lane_rate(static_cast<unsigned>(p.generation));
    c.propagation = p.propagation;
    c.bit_error_rate = p.bit_error_rate;
    c.retrain_time = p.retrain_time;
    c.seed = p.seed;
    return c;
}

}  // namespace

void port_params::describe(parameter_visitor& v) {
    v.field("generation", generation, between{1, 6}, "PCI Express generation of the link");
    v.field("width", width, between{1, 32}, "lanes each way: 1, 2, 4, 8, 12, 16 or 32");
    v.field("max_payload", max_payload, between{128, 4096}, "largest payload of a TLP that is supported, in bytes");
    v.field("propagation", propagation, between{0, 1e6}, "time of flight on the wire");
    v.field("processing", processing, between{0, 1e7}, "from the arrival of a TLP's head until the device acts on it");
    v.field("posted_headers", posted_headers, between{1, 128}, "posted TLPs that the receiver can hold");
    v.field("non_posted_headers", non_posted_headers, between{1, 128}, "non-posted TLPs that the receiver can hold");
    v.field("completion_headers", completion_headers, between{1, 128}, "completions that the receiver can hold");
    v.field("posted_buffer", posted_buffer, between{4096.0 / 32, 32752},
            "receiver's buffer for posted data, in units of 16 B; the link's largest payload fits it");
    v.field("non_posted_buffer", non_posted_buffer, between{16, 32752},
            "receiver's buffer for non-posted data, in units of 16 B");
    v.field("completion_buffer", completion_buffer, between{4096.0 / 32, 32752},
            "receiver's buffer for completion data, in units of 16 B; the link's largest payload fits it");
    v.field("credit_latency", credit_latency, between{0, 1e7}, "from freeing a buffer to the partner's knowing of it");
    v.field("tlps_per_acknowledgement", tlps_per_acknowledgement, between{1, 64}, "TLPs that one ACK stands for");
    v.field("tlps_per_credit_update", tlps_per_credit_update, between{1, 64}, "TLPs that one UpdateFC stands for");
    v.field("bit_error_rate", bit_error_rate, between{0, 1e-3}, "chance that a bit arrives wrong");
    v.field("retrain_time", retrain_time, between{0, 1e12}, "time for which the link is down when it trains again");
    v.field("seed", seed, "seed of the error process; 0: follows from simulation.seed and the block's path");
}

std::string shortage(const port_params& here, const port_params& other_end) {
    const auto needed = std::max(here.max_payload, other_end.max_payload);
    for (const auto& [key, buffer] :
         {std::pair{"posted_buffer", here.posted_buffer}, std::pair{"completion_buffer", here.completion_buffer}})
        if (buffer.bytes / 16 * 16 < needed)
            return fmt::format(
                "{} is {} B: a payload of {} B, the larger max_payload of the link's two ends, needs "
                "that much, in units of 16 B",
                key, buffer.bytes, needed);
    return {};
}

std::string port_traits::describe(unsigned c, const std::string& partner, const amounts& left, const amounts& initial) {
    return fmt::format("{} credits of {}: {} of {} headers and {} of {} bytes are left",
                       choice_traits<flow_class>::names[c].second, partner, left[0], initial[0], 16 * left[1],
                       16 * initial[1]);
}

port::port(const sc_core::sc_module_name& name, const port_params& p, port_owner& owner)
    : link::port<port_traits>(name, channel_of(p)),
      params(p),
      m_owner(owner),
      m_generation(static_cast<unsigned>(p.generation)) {}

port::buffers port::room_of(const port_params& p) {
    return {amounts{p.posted_headers, p.posted_buffer / 16}, amounts{p.non_posted_headers, p.non_posted_buffer / 16},
            amounts{p.completion_headers, p.completion_buffer / 16}};
}

bool port::can_send(const tlp& t) {
    if (!m_up) return true;  // and be lost
    if (!idle()) {
        call_when_idle();
        return false;
    }
    return has_credits(port_traits::class_of(t), port_traits::credits_of(t));
}

ticks port::send(const tlp_ptr& t, ticks tail_ready) {
    if (!m_up) {
        ++dropped;
        return now();
    }
    consume_credits(*t);
    const auto generation = m_generation;
    const auto payload = t->payload_bytes();
    const auto header = t->header_bytes() + framing_bytes(generation) / 2;
    const auto transmission =
        transmitter.send(now(), tail_ready, header + payload + (framing_bytes(generation) + 1) / 2, header);
    ++tlps_sent;
    payload_sent += payload;
    if ((transmitter.bit_error_rate() > 0 || faults.any()) && inject_errors(*t, transmission)) return transmission.end;
    t->tail = transmission.tail_arrival;
    if (span_recorder::on()) {
        t->pass(arbitration_span, span_kind::queueing, now());
        t->pass(lanes_span, span_kind::queueing, transmission.begin);
        t->pass(serialisation_span, span_kind::service, transmission.head_arrival - params.propagation);
        t->pass(wire_span, span_kind::service, transmission.head_arrival);
    }
    transmit_packet(*t, transmission.head_arrival);
    return transmission.end;
}

ticks port::arrival_time(tlp& t, ticks head) {
    // Time for acknowledgements and credit updates on the way back is taken from our transmitter.
    const auto dllp = dllp_bytes(m_generation);
    ++m_received;
    if (dllp && m_received % params.tlps_per_acknowledgement == 0) transmitter.add_overhead(dllp);
    if (dllp && m_received % params.tlps_per_credit_update == 0) transmitter.add_overhead(dllp);
    const auto when = head + params.processing;
    t.pass(processing_span, span_kind::service, when);
    return when;
}

void port::arrived(const tlp_ptr& t) {
    t->link_epoch = m_epoch;
    m_owner.tlp_arrived(*this, t);
}

void port::release(tlp& t, ticks when) {
    if (t.link_epoch != m_epoch) return;  // the partner has all its credits since the link came up again
    return_credits(t, when, params.credit_latency);
}

/// Replays, faults. \returns true if the TLP does not arrive
bool port::inject_errors(tlp& t, const link::channel::transmission& transmission) {
    if (const auto attempts = transmitter.replays.total(); attempts != m_replays) {
        m_replays = attempts;
        const auto earliest = partner() ? now() : now() + params.propagation;
        tell_partner(aer::bad_tlp, std::max(earliest, transmission.end));
    }
    if (const auto trainings = transmitter.retrains.total(); trainings != m_trainings) {
        m_trainings = trainings;
        signalled(aer::replay_rollover, std::max(now(), transmission.end));
    }
    if (transmission.lost) {
        m_failed = true;
        ++dropped;
        return true;
    }
    if (!faults.any()) return false;
    if (faults.poisons(t)) {
        t.poisoned = true;
        const auto corrupted = allocate_slice(t.data.length);  // a copy: others may hold the good data
        for (std::size_t i = 0; i < corrupted.length; ++i)
            corrupted.data()[i] = static_cast<std::uint8_t>(~t.data.data()[i]);
        t.data = corrupted;
    }
    if (!faults.drops(t)) return false;
    ++dropped;
    // The receiver's link layer has acknowledged it: its buffer is free again.
    credits_returned(port_traits::class_of(t), port_traits::credits_of(t), transmission.end + params.credit_latency);
    return true;
}

void port::signalled(std::uint32_t errors, ticks when) {
    m_link_errors |= errors;
    if (!m_report_errors.scheduled()) schedule(m_report_errors, when);
}

void port::report_errors() {
    if (const auto errors = std::exchange(m_link_errors, 0)) m_owner.link_errors(*this, errors);
    if (!std::exchange(m_failed, false) || !m_up) return;
    count_warning(failed_trainings, *this, "training does not help: the link goes down");
    take_down();
    train();
}

void port::drop_link() {
    m_up = false;
    ++m_epoch;
    ++link_downs;
    dropped += clear_arrivals();
    clear_waits();
    cancel(m_trained);
}

/// True if this end can change the link's state, which both ends do at one time.
bool port::changes_link() {
    if (m_other && !partner())
        count_warning(refused_changes, *this, "the link's other end is in another simulation: the link stays as it is");
    return partner() != nullptr;
}

void port::take_down() {
    if (!m_up || !changes_link()) return;
    log(log_level::info, *this, "the link goes down");
    drop_link();
    partner()->drop_link();
    m_owner.link_changed(*this, link_event::down);
    partner()->m_owner.link_changed(*partner(), link_event::down);
}

void port::cut() {
    take_down();
    cancel(m_trained);
    if (partner()) cancel(partner()->m_trained);
}

/// A fault at either end keeps the link down.
bool port::held_by_fault() const { return faults.holds_down() || (partner() && partner()->faults.holds_down()); }

/// What both ends have, and faults at either end have left.
std::uint64_t port::max_lanes() const {
    auto lanes = std::min(params.width, m_other->width);
    for (const auto* p : {this, static_cast<const port*>(partner())})
        if (p && p->faults.max_lanes()) lanes = std::min(lanes, p->faults.max_lanes());
    return lanes;
}

unsigned port::max_generation() const {
    auto generation = static_cast<unsigned>(std::min(params.generation, m_other->generation));
    for (const auto* p : {this, static_cast<const port*>(partner())})
        if (p && p->faults.max_generation()) generation = std::min(generation, p->faults.max_generation());
    return generation;
}

void port::train(unsigned generation) {
    if (!m_present || m_held || !changes_link() || partner()->m_held || held_by_fault()) return;
    const auto lanes = max_lanes();
    generation = generation == 0 ? max_generation() : std::min(generation, max_generation());
    log(log_level::info, *this, "the link trains: {} lanes, generation {}", lanes, generation);
    for (auto* p : {this, partner()}) {
        p->set_link_state(lanes, generation);
        p->transmitter.retrain(lane_rate(generation));
        cancel(p->m_trained);
    }
    schedule(m_trained, now() + params.retrain_time);
    m_owner.link_changed(*this, link_event::training);
    partner()->m_owner.link_changed(*partner(), link_event::training);
}

void port::hold(bool down) {
    if (down == m_held) return;
    m_held = down;
    if (!down) {
        train();
        return;
    }
    cut();
}

void port::trained() {
    const bool was_up = m_up;
    for (auto* p : {this, partner()}) {
        if (!was_up) {
            p->m_up = true;
            p->set_credits(room_of(p->partner()->params));
        }
        p->m_owner.link_changed(*p, was_up ? link_event::speed : link_event::up);
        if (p->m_up) p->call_when_idle();
    }
}

void port::set_link_state(std::uint64_t lanes, unsigned generation) {
    m_generation = generation;
    duplex().set_lanes(lanes, lanes);
}

void port::set_present(bool present) {
    if (present == m_present || !changes_link()) return;
    if (!present) take_down();
    for (auto* p : {this, partner()}) {
        p->m_present = present;
        cancel(p->m_trained);
    }
    for (auto* p : {this, partner()}) p->m_owner.link_changed(*p, present ? link_event::inserted : link_event::removed);
    if (present) train();
}

void port::reset() {
    cancel(m_trained);
    cancel(m_report_errors);
    ++m_epoch;
    m_up = m_present && !held_by_fault();
    m_held = false;
    m_received = m_link_errors = 0;
    m_failed = false;
    link::port<port_traits>::reset();
    faults.restore();
    if (m_other) train_at_once();
}

/// The link is as wide and as fast as both ends and their faults let it be; it is up unless a fault keeps it down.
void port::train_at_once() {
    set_link_state(max_lanes(), max_generation());
    transmitter.set_lane_rate(lane_rate(m_generation));
    m_owner.link_changed(*this, link_event::speed);
}

void port::plug(const port_params& other) {
    m_other.emplace(other);
    faults.retrain.defaults.max_lanes = std::min(params.width, other.width);
    faults.retrain.defaults.max_generation = static_cast<unsigned>(std::min(params.generation, other.generation));
    train_at_once();
}

void connect(port& a, port& b) {
    link::join<port_traits>(a, port::room_of(a.params), b, port::room_of(b.params));
    a.plug(b.params);
    b.plug(a.params);
}

/// Below generation 6, acknowledgements take their lanes when a TLP is heard of, which is later than it was sent: times
/// then differ a little from those of a whole link.
void connect(port& here, far_end& there, const port_params& of_there) {
    link::join<port_traits>(here, there, port::room_of(of_there));
    here.plug(of_there);
}

}  // namespace fabricvp::pcie
