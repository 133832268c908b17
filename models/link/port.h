// SPDX-License-Identifier: Apache-2.0
// One end of a link with credits: a transmitter that honours its partner's credits, and a receiver whose buffers they
// stand for. What kind of link it is, traits say; nothing here is virtual but TLM-2.0's own interfaces. A packet costs
// one calendar event here: its arrival.
//
//     struct port_traits {
//         using protocol = link_protocol;                 // TLM-2.0 types: packet and link::phase
//         using port = fabric::port;                      // the class derived from link::port<port_traits>
//         static constexpr unsigned classes = 2;          // whose credits are apart: virtual channels, flow classes
//         static constexpr unsigned kinds = 1;            // of credits that a packet of a class takes: headers, data
//         static unsigned class_of(const packet& p);
//         static std::array<std::uint64_t, kinds> credits_of(const packet& p);
//         static std::string describe(unsigned c, const std::string& partner, const amounts& left, const amounts&
//         initial);
//     };
//
// The derived class has members that this one calls; the last two may be left out:
//
//     ticks arrival_time(packet& p, ticks head);    // its head will be here then; returns when arrived() shall follow
//     void arrived(const pooled_ptr<packet>& p);    // it stays in the buffer until return_credits()
//     void ready();                                 // the transmitter could not send before and may be able to now
//     unsigned debug_access(packet& p);             // an access without time; returns bytes done
//     void signalled(std::uint32_t what, ticks when);  // the partner's tell_partner(); known here at `when`
//     void lost(packet& p);                         // it was under way when clear_arrivals() was called
//
// The two ends exchange nothing but messages that take time: packets forward, credits backward, and what tell_partner()
// says. join() gives each the other's credits once; from then on they may stand in different simulations, and a far_end
// (link/far_end.h) stands at each in place of the other. Two ends that are joined in one simulation call each other
// directly: what their sockets would call, without asking these where the other one is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <tlm>

#include "base/model.h"
#include "base/pool.h"
#include "base/prefetch.h"
#include "base/short_ring.h"
#include "base/statistics.h"
#include "link/channel.h"
#include "link/credits.h"
#include "link/duplex_link.h"
#include "link/message.h"
#include "link/phase.h"

namespace fabricvp::link {

template <class Traits>
class far_end;

template <class Traits>
class port : public model,
             protected tlm::tlm_fw_transport_if<typename Traits::protocol>,
             protected tlm::tlm_bw_transport_if<typename Traits::protocol> {
public:
    using end = typename Traits::port;
    using protocol = typename Traits::protocol;
    using packet = typename protocol::tlm_payload_type;
    using packet_pointer = pooled_ptr<packet>;
    using message_type = message<packet, Traits::kinds>;
    static constexpr unsigned classes = Traits::classes;
    using amounts = std::array<std::uint64_t, Traits::kinds>;  ///< of each kind of credits
    using buffers = std::array<amounts, classes>;              ///< what a receiver has room for

    tlm::tlm_initiator_socket<32, protocol> tx{"tx"};
    tlm::tlm_target_socket<32, protocol> rx{"rx"};
    channel transmitter;

    counter credit_stalls{*this, "credit_stalls", "1", "times a packet waited for its partner's buffer"};

    /// True if the lanes are free, and there are any.
    bool idle() const { return transmitter.free_at() <= now(); }
    /// Makes ready() follow when the lanes are free.
    void call_when_idle() {
        const auto when = transmitter.free_at();
        if (when == never) {
            m_stopped_since = std::min(m_stopped_since, now());
            return;
        }
        m_stopped_since = never;
        wake_by(std::max(when, now()));
    }

    /// The end at the other side; null if it is in another simulation.
    end* partner() const { return m_partner; }
    /// Both directions' lanes, and which of them this end sends on.
    duplex_link& duplex() const { return *m_duplex_link; }
    side local_side() const { return m_side; }

    /// What the partner has room for. To be called before anything is sent; join() does.
    void set_credits(const buffers& of_partner) {
        for (unsigned c = 0; c < classes; ++c)
            for (unsigned k = 0; k < Traits::kinds; ++k) m_credits[c][k].set_initial(of_partner[c][k]);
    }

    /// Credits of class `c` are here again at `when`.
    void credits_returned(unsigned c, const amounts& freed, ticks when) {
        for (unsigned k = 0; k < Traits::kinds; ++k) {
            m_credits[c][k].collect(now());
            m_credits[c][k].replenish(freed[k], when);
        }
        if (m_waits_for_credit) wake_by(std::max(when, now()));
    }

    /// What the partner, which is in another simulation, has sent. It counts later than now.
    void receive(const message_type& m) {
        switch (m.what) {
            case message_kind::packet:
                // What was under way when arrivals were cleared is lost, also where it is heard of only now.
                if (m.sent < m_cleared_at) return self().lost(*m.packet);
                return expect(*m.packet, m.when);
            case message_kind::credits: return credits_returned(m.credit_class, m.credits, m.when);
            case message_kind::signal: return self().signalled(m.signal, m.when);
        }
    }

    /// Credits of the first kind that packets hold which are on their way or in the partner's buffers.
    std::uint64_t outstanding() const {
        std::uint64_t sum = 0;
        for (const auto& c : m_credits) sum += c[0].in_use(now());
        return sum;
    }

    /// A queue is stuck: no packet of class `c` is sent until release_queue().
    void hold_queue(unsigned c) {
        for (auto& account : m_credits[c]) account.withhold();
    }
    void release_queue(unsigned c) {
        for (auto& account : m_credits[c]) account.release();
        if (m_waits_for_credit) wake_by(now());
    }

    /// What waited for this transmitter has been given up.
    void clear_wait_times() { m_waiting_since.fill(never); }
    /// For the watchdog: the credits that a packet has been waiting for longest.
    std::optional<wait> waits() const override {
        if (m_stopped_since != never) return wait{m_stopped_since, "its link to come up"};
        const auto longest = std::min_element(m_waiting_since.begin(), m_waiting_since.end());
        if (*longest == never) return std::nullopt;
        const auto c = static_cast<unsigned>(longest - m_waiting_since.begin());
        amounts left, initial;
        for (unsigned k = 0; k < Traits::kinds; ++k) {
            left[k] = m_credits[c][k].available(now());
            initial[k] = m_credits[c][k].initial();
        }
        const auto what = Traits::describe(c, m_partner ? m_partner->name() : "its partner", left, initial);
        return wait{*longest, m_credits[c][0].withheld() ? "a queue that is stuck, with " + what : what};
    }

    void reset() override {
        for (auto& c : m_credits)
            for (auto& account : c) account.reset();
        clear_arrivals();
        cancel(m_wake);
        m_waiting_since.fill(never);
        m_waits_for_credit = false;
        m_stopped_since = never;
        model::reset();
        m_duplex_link->reset();
    }

protected:
    port(const sc_core::sc_module_name& name, const channel_params& p) : model(name), transmitter("transmitter", p) {
        m_waiting_since.fill(never);
        tx.bind(static_cast<tlm::tlm_bw_transport_if<protocol>&>(*this));
        rx.bind(static_cast<tlm::tlm_fw_transport_if<protocol>&>(*this));
        transmitter.on_restart([this] {
            if (m_stopped_since != never) call_when_idle();
        });
    }

    // As model's, without touching what model has in this object: there is one calendar.
    ticks now() const { return calendar::current().now(); }
    void schedule(calendar_event& e, ticks when) { calendar::current().schedule(e, when); }

    /// True if the partner has room. Otherwise ready() follows when it may be so.
    bool has_credits(unsigned c, const amounts& needed) {
        const auto time = now();
        bool covered = true;
        for (unsigned k = 0; k < Traits::kinds; ++k) covered &= m_credits[c][k].covers(needed[k], time);
        if (covered) return true;
        if (m_waiting_since[c] == never) {
            ++credit_stalls;
            m_waiting_since[c] = time;
        }
        m_waits_for_credit = true;
        ticks when = 0;
        for (unsigned k = 0; k < Traits::kinds; ++k) when = std::max(when, m_credits[c][k].covered_at(needed[k]));
        if (when != never) wake_by(when);
        return false;
    }
    /// The same; ready() does not follow.
    bool covered(unsigned c, const amounts& needed) {
        bool all = true;
        for (unsigned k = 0; k < Traits::kinds; ++k) all &= m_credits[c][k].covers(needed[k], now());
        return all;
    }
    void consume_credits(const packet& p) { consume_credits(Traits::class_of(p), Traits::credits_of(p)); }
    void consume_credits(unsigned c, const amounts& needed) {
        m_waiting_since[c] = never;
        for (unsigned k = 0; k < Traits::kinds; ++k) m_credits[c][k].consume(needed[k]);
    }
    /// Takes credits away for good.
    void drop_credits(unsigned c, const amounts& lost) {
        for (unsigned k = 0; k < Traits::kinds; ++k) m_credits[c][k].drop(lost[k], now());
    }

    /// Lets a packet arrive whose passage over the transmitter has been worked out.
    void transmit_packet(packet& p, ticks head_arrival) {
        if (m_partner) return static_cast<port&>(*m_partner).expect(p, head_arrival);
        auto what = phase::transfer;
        auto delay = sc_core::sc_time::from_value(head_arrival - now());
        tx->nb_transport_fw(p, what, delay);
    }
    /// Frees the buffer of a received packet at `when`; the partner knows of it `latency` later.
    void return_credits(packet& p, ticks when, ticks latency) {
        const auto known = std::max(when, now()) + latency;
        if (m_partner) return m_partner->credits_returned(Traits::class_of(p), Traits::credits_of(p), known);
        auto what = phase::credit_return;
        auto delay = sc_core::sc_time::from_value(known - now());
        rx->nb_transport_bw(p, what, delay);
    }
    /// Tells the partner something of the protocol's own, which it knows at `when`.
    void tell_partner(std::uint32_t what, ticks when) {
        if (m_partner)
            m_partner->signalled(what, when);
        else if (m_far)
            m_far->send_signal(what, when);
    }
    void signalled(std::uint32_t, ticks) {}
    void lost(packet&) {}

    /// A packet of class `c` will be sent soon.
    void prefetch_sending(unsigned c) const {
        prefetch(&m_wake, 2 * cache_line);
        prefetch(&m_credits[c], sizeof m_credits[c]);
        transmitter.prefetch();
    }
    /// A packet will soon be expected here. \param bytes of what receiving touches, this class's and the derived one's
    void prefetch_receiving(std::size_t bytes) const { prefetch(&m_arrive, bytes); }
    /// Credits of class `c` will come back soon.
    void prefetch_credits(unsigned c) const {
        prefetch(&m_credits[c], sizeof m_credits[c]);
        prefetch(&m_waits_for_credit, 1);
    }

    /// Makes ready() follow at `when` or before.
    void wake_by(ticks when) {
        if (!m_wake.scheduled() || m_wake.when() > when) schedule(m_wake, when);
    }

    /// Forgets what is on its way to here. \returns how many packets that were
    std::size_t clear_arrivals() {
        const auto lost = m_arrivals.size();
        m_arrivals.clear();
        cancel(m_arrive);
        m_last_due = 0;
        m_cleared_at = now();
        return lost;
    }
    /// Forgets to call ready().
    void clear_waits() {
        cancel(m_wake);
        m_waits_for_credit = false;
        m_waiting_since.fill(never);
    }

private:
    template <class T>
    friend void join(port<T>& a, const typename port<T>::buffers& of_a, port<T>& b,
                     const typename port<T>::buffers& of_b);
    template <class T>
    friend void join(port<T>& here, far_end<T>& there, const typename port<T>::buffers& of_there);
    struct arrival {
        ticks when;
        packet_pointer packet;
    };

    tlm::tlm_sync_enum nb_transport_fw(packet& p, phase&, sc_core::sc_time& delay) override {
        expect(p, now() + delay.value());
        return tlm::TLM_ACCEPTED;
    }
    tlm::tlm_sync_enum nb_transport_bw(packet& p, phase&, sc_core::sc_time& delay) override {
        credits_returned(Traits::class_of(p), Traits::credits_of(p), now() + delay.value());
        return tlm::TLM_ACCEPTED;
    }
    void b_transport(packet&, sc_core::sc_time&) override {
        SC_REPORT_ERROR(name(), "links are not blocking: use nb_transport");
    }
    bool get_direct_mem_ptr(packet&, tlm::tlm_dmi&) override { return false; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    unsigned transport_dbg(packet& p) override { return self().debug_access(p); }

    /// \param head when its head will be here
    void expect(packet& p, ticks head) {
        // What came first goes on first, whatever the owner says.
        m_last_due = std::max(m_last_due, self().arrival_time(p, head));
        m_arrivals.push_back({m_last_due, packet_pointer(&p)});
        if (!m_arrive.scheduled()) schedule(m_arrive, m_last_due);
    }
    void arrive() {
        const auto p = m_arrivals.take_front().packet;
        if (!m_arrivals.empty()) {
            schedule(m_arrive, m_arrivals.front().when);
            // It was sent long ago, and its turn is soon.
            __builtin_prefetch(m_arrivals.front().packet.get(), 1);
        }
        self().arrived(p);
    }
    void wake() {
        m_waits_for_credit = false;
        self().ready();
    }
    end& self() { return static_cast<end&>(*this); }

    static constexpr std::size_t cache_line = 64;  // of the host

    std::shared_ptr<duplex_link> m_duplex_link = std::make_shared<duplex_link>(transmitter);
    far_end<Traits>* m_far = nullptr;  // stands in for a partner that is in another simulation
    side m_side = side::a;
    ticks m_cleared_at = 0;  // what was sent before does not arrive

    // Of large machines, each packet finds these far from the host's processor: what sending touches comes first, then
    // what receiving does, which the derived class goes on with.
    alignas(cache_line) std::array<std::array<credit_account, Traits::kinds>, classes> m_credits;
    alignas(cache_line) calendar_event m_wake{method<&port::wake>, this};
    bool m_waits_for_credit = false;
    ticks m_stopped_since = never;  // since when something waits for lanes to send on
    std::array<ticks, classes> m_waiting_since;
    alignas(cache_line) calendar_event m_arrive{method<&port::arrive>, this};
    ticks m_last_due = 0;
    end* m_partner = nullptr;
    short_ring<arrival, 4> m_arrivals;
};

/// Makes a link of two ends: each one's buffers become the other's credits, and their lanes belong together.
template <class Traits>
void join(port<Traits>& a, const typename port<Traits>::buffers& of_a, port<Traits>& b,
          const typename port<Traits>::buffers& of_b) {
    a.tx.bind(b.rx);
    b.tx.bind(a.rx);
    a.m_partner = &b.self();
    b.m_partner = &a.self();
    a.set_credits(of_b);
    b.set_credits(of_a);
    a.m_duplex_link = b.m_duplex_link = std::make_shared<duplex_link>(a.transmitter, &b.transmitter);
    b.m_side = side::b;
}

}  // namespace fabricvp::link
