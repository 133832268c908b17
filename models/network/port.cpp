// SPDX-License-Identifier: Apache-2.0
#include "network/port.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "base/log.h"
#include "base/work_observer.h"
#include "link/far_end.h"

namespace fabricvp::network {

namespace {

link::channel_params channel_of(const port_params& p) {
    link::channel_params c;
    c.lanes = lanes_of(p.width);
    c.lane_rate = lane_rate(p.rate);
    c.propagation = {0};  // the cable's, which is not known yet
    return c;
}

}  // namespace

void port_params::describe(parameter_visitor& v) {
    v.choice("rate", rate, "fastest signalling rate of a lane");
    v.choice("width", width, "most lanes each way");
    v.field("mtu", mtu, between{256, 4096}, "longest payload of a packet, in bytes: 256, 512, 1024, 2048 or 4096");
    v.field("data_lanes", data_lanes, between{1, 15}, "virtual lanes for data: 1, 2, 4, 8 or 15");
    v.field("buffer", buffer, between{512, 1e8},
            "receiver's buffer for each virtual lane; it holds at least one longest packet");
    v.field("management_packets", management_packets, between{1, 1e6},
            "packets that the receiver's buffer of virtual lane 15 holds");
    v.field("queue", queue, between{1, 1e6}, "packets of a virtual lane that wait at the transmitter");
    v.field("credit_latency", credit_latency, between{0, 1e9},
            "from freeing a buffer until its credits are on their way back");
    v.field("retrain_time", retrain_time, between{0, 1e12}, "from the end of a fault until the link is up again");
}

void link_params::describe(parameter_visitor& v) {
    v.choice("rate", rate,
             "fastest signalling rate of a lane that the cable can; the link has what both ends can as well");
    v.choice("width", width, "most lanes each way that the cable has");
    v.field("propagation", propagation, between{1, 1e9}, "time of flight");
    v.field("bit_error_rate", bit_error_rate, between{0, 1e-3},
            "chance that a bit arrives wrong; the packet is then lost");
    v.field("seed", seed,
            "seed of the error processes of both directions; 0: follows from simulation.seed and the block's path");
}

const char* name_of(port_state s) {
    switch (s) {
        case port_state::down: return "down";
        case port_state::initialize: return "initialize";
        case port_state::armed: return "armed";
        case port_state::active: return "active";
    }
    return "?";
}

const char* name_of(drop_reason r) {
    static constexpr const char* names[] = {"link_down", "inactive", "corrupted", "management_full",
                                            "too_long",  "injected", "no_route",  "switch_dead"};
    return names[static_cast<unsigned>(r)];
}

std::string port_traits::describe(unsigned c, const std::string& partner, const amounts& left, const amounts& initial) {
    return fmt::format("credits of virtual lane {} of {}: {} of {} blocks of 64 bytes are left", c, partner, left[0],
                       initial[0]);
}

port::port(const sc_core::sc_module_name& name, const port_params& p, port_owner& owner, unsigned i)
    : link::port<port_traits>(name, channel_of(p)),
      params(p),
      index(i),
      m_owner(owner),
      m_dropped{
          {{*this, "dropped.link_down", "1", "packets lost because the link was down or went down"},
           {*this, "dropped.inactive", "1", "packets that subnet management did not let pass: the port was not active"},
           {*this, "dropped.corrupted", "1", "packets that arrived with a wrong VCRC or a bad end"},
           {*this, "dropped.management_full", "1", "packets for which virtual lane 15 had no buffer"},
           {*this, "dropped.too_long", "1", "packets longer than the link's MTU"},
           {*this, "dropped.injected", "1", "packets that an injected fault made vanish"},
           {*this, "dropped.no_route", "1", "packets for which there was no way on from here"},
           {*this, "dropped.switch_dead", "1", "packets lost in a switch that died"}}},
      m_rate(p.rate),
      m_width(p.width),
      m_mtu(p.mtu),
      m_data_lanes(p.data_lanes) {
    if (p.mtu & (p.mtu - 1))
        throw std::invalid_argument(
            fmt::format("{}.mtu: {} is not one of 256, 512, 1024, 2048, 4096", this->name(), p.mtu));
    if (p.data_lanes != 15 && p.data_lanes & (p.data_lanes - 1))
        throw std::invalid_argument(
            fmt::format("{}.data_lanes: {} is not one of 1, 2, 4, 8, 15", this->name(), p.data_lanes));
    constexpr std::uint64_t max_header_bytes = 128;
    if (p.buffer.bytes < p.mtu + max_header_bytes)
        throw std::invalid_argument(fmt::format("{}.buffer: {} bytes do not hold the longest packet of {}",
                                                this->name(), p.buffer.bytes, p.mtu + max_header_bytes));
    update_link();
}

port::buffers port::room_of(const port_params& p) {
    buffers b;
    for (unsigned lane = 0; lane < virtual_lanes; ++lane) b[lane] = {lane < p.data_lanes ? p.buffer.bytes / 64 : 0};
    return b;
}

/// What follows from both ends and the cable.
void port::update_link() {
    if (joined()) {
        m_rate = std::min({params.rate, m_other->rate, m_cable.rate});
        m_width = std::min({params.width, m_other->width, m_cable.width});
        m_mtu = std::min(params.mtu, m_other->mtu);
        m_data_lanes = std::min(params.data_lanes, m_other->data_lanes);
    }
    transmitter.set_lane_rate(lane_rate(m_rate));
    for (unsigned sl = 0; sl < sl_to_vl.size(); ++sl) sl_to_vl[sl] = static_cast<std::uint8_t>(sl % m_data_lanes);
    std::vector<lane_arbiter::entry> all;
    for (unsigned lane = 0; lane < m_data_lanes; ++lane) all.push_back({static_cast<std::uint8_t>(lane), 64});
    arbiter.configure({}, std::move(all));
}

void port::send_by(unsigned lane, const packet_ptr& p, ticks tail_ready) {
    if (p->hops == 0) {
        p->measure();
        ++packets_offered;
    }
    p->lrh.vl = static_cast<std::uint8_t>(lane);
    if (!m_up) return discard(*p, drop_reason::link_down);
    const bool is_management = lane == management_lane && is_subnet_management(*p);
    if (!is_management && (m_state != port_state::active || lane >= m_data_lanes))
        return discard(*p, drop_reason::inactive);
    if (p->payload.length > m_mtu) return discard(*p, drop_reason::too_long);
    auto& queue = m_queues[lane];
    queue.push_back({p, tail_ready});
    m_filled |= 1u << lane;
    transmit();
}

/// The lane whose turn it is among those that have credits.
unsigned port::next_lane() {
    if (m_filled >> management_lane & 1) return management_lane;
    std::uint32_t able = 0;
    m_credit_starved = false;
    for (auto rest = m_filled; rest; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
        if (has_credits(lane, {m_queues[lane].front().packet->blocks}))
            able |= 1u << lane;
        else
            m_credit_starved = true;
    }
    if (!able) return lane_arbiter::no_lane;
    if (!(able & (able - 1))) return static_cast<unsigned>(__builtin_ctz(able));
    return arbiter.choose(able);
}

void port::transmit() {
    if (!m_filled) return;
    if (!idle()) return call_when_idle();
    const auto lane = next_lane();
    if (lane == lane_arbiter::no_lane) return;
    send_from(lane);
    if (m_filled) call_when_idle();
    if (m_wanted >> lane & 1) {
        m_wanted &= ~(1u << lane);
        m_owner.space_available(*this, lane);
    }
}

void port::send_from(unsigned lane) {
    auto& queue = m_queues[lane];
    const auto [p, tail_ready, is_duplicate] = std::move(queue.front());
    queue.pop_front();
    if (faults.any() && !is_duplicate && faults.duplicates()) {
        const auto copy = copy_packet(*p);
        copy->link_epoch = no_epoch;
        ++duplicated;
        queue.push_front({copy, tail_ready, true});
    }
    if (queue.empty()) m_filled &= ~(1u << lane);
    if (lane != management_lane) {
        consume_credits(*p);
        arbiter.charge(p->blocks);
    }
    constexpr std::uint64_t head_bytes = 8;  // the local route header
    const auto transmission = transmitter.send(now(), tail_ready, p->wire_bytes, head_bytes);
    ++packets_sent;
    if (p->hops != 0xff) ++p->hops;
    bytes_sent += p->wire_bytes - 2u;
    payload_sent += p->payload.length;
    p->head = transmission.head_arrival + m_cable.propagation;
    p->tail = transmission.tail_arrival + m_cable.propagation;
    if (span_recorder::on()) {
        p->pass(queue_span, span_kind::queueing, transmission.begin);
        p->pass(serialisation_span, span_kind::service, transmission.head_arrival);
        p->pass(wire_span, span_kind::service, p->head);
    }
    const bool lost = faults.any() && faults.apply(*p);
    if (tap) tap->packet_sent(*this, *p, transmission.begin);
    if (!lost) return transmit_packet(*p, p->head);
    discard(*p, drop_reason::injected);
    // Both ends keep count of what has been sent, so the credits come back.
    const auto back = p->tail + params.credit_latency + m_cable.propagation;
    if (lane != management_lane) credits_returned(lane, port_traits::credits_of(*p), back);
}

ticks port::arrival_time(packet& p, ticks) { return m_owner.packet_announced(*this, p); }

void port::deliver(const packet_ptr& p) {
    // One event hands over what arrives at one time, whosever ports that are.
    if (work_observer::current) work_observer::current->goes_on_in(*this, now());
    if (!p) return process_signals();
    if (!m_up) return drop(*p, drop_reason::link_down);
    p->link_epoch = m_epoch;
    errors.octets_received += p->wire_bytes - 4u;
    if (p->corrupted == corruption::link) count_corrupted(*p);
    const bool is_management = p->lrh.vl == management_lane;
    if (is_management && ++m_management > params.management_packets) {
        release(*p, now());
        return drop(*p, drop_reason::management_full);
    }
    // A switch that cuts through passes a bad packet on before it knows; the end that has the whole of it drops it.
    if (p->corrupted == corruption::link && p->tail <= now()) {
        release(*p, p->tail);
        return drop(*p, drop_reason::corrupted);
    }
    if (!is_management && m_state < port_state::armed) {
        release(*p, p->tail);
        return drop(*p, drop_reason::inactive);
    }
    ++packets_received;
    if (p->tail <= now()) p->pass(tail_span, span_kind::service, p->tail);
    m_owner.packet_arrived(*this, p);
}

void port::release(packet& p, ticks when) {
    if (p.link_epoch != m_epoch) return;  // the other end has all its credits since the link came up again
    if (p.lrh.vl == management_lane) {
        --m_management;
        return;
    }
    return_credits(p, when, params.credit_latency + m_cable.propagation);
}

void port::count_corrupted(packet& p) {
    if (p.bad_end) {
        ++errors.remote_physical_errors;
        return;
    }
    ++errors.symbol_errors;
    ++errors.receive_errors;
    p.bad_end = true;
}

void port::drop(const packet& p, drop_reason why) {
    ++m_dropped[static_cast<unsigned>(why)];
    if (why == drop_reason::no_route) ++errors.relay_errors;
    if (why == drop_reason::management_full)
        ++(p.lrh.vl == management_lane ? errors.management_drops : errors.transmit_discards);
    if (why == drop_reason::link_down || why == drop_reason::inactive) ++errors.receive_errors;
}

void port::discard(const packet&, drop_reason why) {
    ++m_dropped[static_cast<unsigned>(why)];
    ++errors.transmit_discards;
}

std::size_t port::waiting() const {
    return std::accumulate(m_queues.begin(), m_queues.end(), std::size_t{0},
                           [](auto sum, const auto& q) { return sum + q.size(); });
}

void port::enter(port_state s) {
    if (s == m_state) return;
    m_state = s;
    log(log_level::info, *this, "{}", name_of(s));
    m_owner.state_changed(*this, s);
}

void port::set_state(port_state s) {
    if (m_up && s != port_state::down) enter(s);
}

void port::configure(std::uint16_t lid, std::uint8_t lmc, std::uint16_t manager_lid) {
    set_lid(lid, lmc);
    m_manager_lid = manager_lid;
    m_configured = true;
    set_state(port_state::active);
}

void port::hold_down() {
    cancel(m_trained);
    if (m_held && !m_released) return;
    m_held = true;
    m_released = false;
    signal_partner(true);
    update_link_state();
}

void port::start_training() {
    if (m_held && !m_released && !m_trained.scheduled() && !faults.holds_down())
        schedule(m_trained, now() + params.retrain_time);
}

/// Both ends are up at the same time.
void port::trained() {
    m_released = true;
    add_signal(true, false, now() + m_cable.propagation);
    signal_partner(false);
}

void port::signal_partner(bool held) { tell_partner(held, now() + m_cable.propagation); }

/// What comes from another simulation may be heard of behind what this end knows already; of one time, the own comes
/// first.
void port::add_signal(bool own, bool held, ticks when) {
    const auto later = [](const signal& a, const signal& b) {
        return a.when != b.when ? a.when < b.when : a.own && !b.own;
    };
    const signal s{when, own, held};
    m_signals.insert(std::upper_bound(m_signals.begin(), m_signals.end(), s, later), s);
    schedule(m_signal_due, m_signals.front().when);
}

/// Signals that are here by now, and credits.
void port::process_signals() {
    while (!m_signals.empty() && m_signals.front().when <= now()) {
        const auto s = m_signals.front();
        m_signals.pop_front();
        if (!s.own)
            m_other_held = s.held;
        else if (m_released)
            m_held = m_released = false;
        update_link_state();
    }
    if (!m_signals.empty()) schedule(m_signal_due, m_signals.front().when);
    transmit();
}

void port::update_link_state() {
    const bool may = joined() && !m_held && !m_other_held;
    if (may && !m_up) come_up();
    if (!may && m_up) go_down();
}

void port::go_down() {
    m_up = m_credit_starved = false;
    ++m_epoch;
    ++link_downs;
    const auto cut_off = clear_arrivals();
    errors.receive_errors += cut_off;
    errors.transmit_discards += waiting();
    m_dropped[static_cast<unsigned>(drop_reason::link_down)] += cut_off + waiting();
    for (auto& q : m_queues) q.clear();
    m_filled = m_management = 0;
    clear_waits();
    enter(port_state::down);
    // What waits for room here goes on, to be lost.
    for (auto lanes = std::exchange(m_wanted, 0); lanes; lanes &= lanes - 1)
        m_owner.space_available(*this, static_cast<unsigned>(__builtin_ctz(lanes)));
}

void port::come_up() {
    m_up = true;
    set_credits(room_of(*m_other));
    arbiter.restart();
    enter(m_configured ? port_state::active : port_state::initialize);
}

void port::reset() {
    if (m_up) go_down();
    m_wanted = 0;
    faults.restart_stream();
    link::port<port_traits>::reset();
    update_link();
    if (!joined()) return;
    duplex().set_lanes(lanes_of(m_width), lanes_of(m_width));
    hold_down();
    start_training();
}

void port::power_on() {
    for (auto* e : {&m_signal_due, &m_trained}) cancel(*e);
    m_signals.clear();
    m_held = m_released = m_other_held = false;
    update_link_state();
}

void connect(port& a, port& b, const link_params& cable) {
    a.m_cable = b.m_cable = cable;
    a.m_other.emplace(b.params);
    b.m_other.emplace(a.params);
    link::join<port_traits>(a, port::room_of(a.params), b, port::room_of(b.params));
    for (auto* p : {&a, &b}) {
        p->update_link();
        p->faults.set_bit_error_rate(cable.bit_error_rate, cable.seed);
    }
    a.duplex().set_lanes(lanes_of(a.m_width), lanes_of(a.m_width));
    for (auto* p : {&a, &b}) p->update_link_state();
}

void connect(port& here, far_end& there, const port_params& of_there, const link_params& cable) {
    here.m_cable = cable;
    here.m_other.emplace(of_there);
    link::join<port_traits>(here, there, port::room_of(of_there));
    here.update_link();
    here.faults.set_bit_error_rate(cable.bit_error_rate, cable.seed);
    here.duplex().set_lanes(lanes_of(here.m_width), lanes_of(here.m_width));
    here.update_link_state();
}

}  // namespace fabricvp::network
