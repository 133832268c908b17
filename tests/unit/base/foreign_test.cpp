// SPDX-License-Identifier: Apache-2.0
// Third-party TLM-2.0 components on both sides of our bus, while the calendar has run ahead of the kernel.
#define SC_INCLUDE_DYNAMIC_PROCESSES  // simple_target_socket needs it
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/foreign_initiator.h"
#include "base/foreign_target.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;

namespace {

ticks kernel_time() { return sc_core::sc_time_stamp().value(); }

struct entry {
    ticks at;
    std::string what;
    bool operator==(const entry& o) const { return at == o.at && what == o.what; }
};
std::ostream& operator<<(std::ostream& out, const entry& e) { return out << e.what << '@' << e.at; }
std::vector<entry> seen;

void access_bytes(bus_payload& p, std::uint8_t* bytes) {
    if (p.is_read())
        std::memcpy(p.get_data_ptr(), bytes + p.get_address(), p.get_data_length());
    else
        std::memcpy(bytes + p.get_address(), p.get_data_ptr(), p.get_data_length());
    p.set_response_status(tlm::TLM_OK_RESPONSE);
}

/// Loosely timed: waits 20 ns, then annotates 5 ns.
SC_MODULE(blocking_memory) {
    tlm_utils::simple_target_socket<blocking_memory> socket{"socket"};
    explicit blocking_memory(const sc_core::sc_module_name& name) : sc_module(name) {
        socket.register_b_transport(this, &blocking_memory::b_transport);
        socket.register_transport_dbg(this, &blocking_memory::transport_dbg);
    }
    void b_transport(bus_payload & p, sc_core::sc_time & delay) {
        seen.push_back({kernel_time() + delay.value(), "b_transport"});
        sc_core::wait(delay + sc_core::sc_time(20, sc_core::SC_NS));
        access_bytes(p, bytes);
        delay = sc_core::sc_time(5, sc_core::SC_NS);
    }
    unsigned transport_dbg(bus_payload & p) {
        access_bytes(p, bytes);
        return p.get_data_length();
    }
    std::uint8_t bytes[256] = {};
};

/// Approximately timed: takes the request after 3 ns, answers 30 ns after it.
SC_MODULE(non_blocking_memory) {
    tlm_utils::simple_target_socket<non_blocking_memory> socket{"socket"};
    SC_HAS_PROCESS(non_blocking_memory);
    explicit non_blocking_memory(const sc_core::sc_module_name& name) : sc_module(name) {
        socket.register_nb_transport_fw(this, &non_blocking_memory::nb_transport_fw);
        SC_THREAD(work);
    }
    tlm::tlm_sync_enum nb_transport_fw(bus_payload & p, tlm::tlm_phase & phase, sc_core::sc_time & delay) {
        if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
        if (current) ++protocol_errors;
        seen.push_back({kernel_time() + delay.value(), "nb_transport"});
        if (at_once) {
            access_bytes(p, bytes);
            delay += sc_core::sc_time(7, sc_core::SC_NS);
            return tlm::TLM_COMPLETED;
        }
        current = &p;
        due = kernel_time() + delay.value();
        start.notify(sc_core::SC_ZERO_TIME);
        return tlm::TLM_ACCEPTED;
    }
    void work() {
        for (;;) {
            while (!current) sc_core::wait(start);
            if (due > kernel_time()) sc_core::wait(sc_core::sc_time::from_value(due - kernel_time()));
            sc_core::wait(3, sc_core::SC_NS);
            bus_payload& p = *current;
            current = nullptr;
            tlm::tlm_phase phase = tlm::END_REQ;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            socket->nb_transport_bw(p, phase, delay);
            sc_core::wait(17, sc_core::SC_NS);
            access_bytes(p, bytes);
            phase = tlm::BEGIN_RESP;
            delay = sc_core::sc_time(10, sc_core::SC_NS);
            socket->nb_transport_bw(p, phase, delay);
        }
    }
    bus_payload* current = nullptr;
    bool at_once = false;
    ticks due = 0;
    int protocol_errors = 0;
    sc_core::sc_event start;
    std::uint8_t bytes[256] = {};
};

/// One of our models: sends accesses from calendar callbacks.
struct requester : model, tlm::tlm_bw_transport_if<> {
    explicit requester(const sc_core::sc_module_name& name) : model(name) { bus.bind(*this); }
    bus_initiator_socket bus{"bus"};

    void start(ticks when) { schedule(m_go, when); }
    void go() {
        auto* p = allocate_payload();
        p->acquire();
        data = 0x1122334455667788;
        p->set_write();
        p->set_address(8);
        p->set_data_ptr(reinterpret_cast<std::uint8_t*>(&data));
        p->set_data_length(8);
        p->set_streaming_width(8);
        if (atomic) p->set_extension(&extension);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        if (bus->nb_transport_fw(*p, phase, delay) == tlm::TLM_COMPLETED) done(*p, now() + delay.value());
    }
    void done(bus_payload& p, ticks when) {
        seen.push_back({when, std::string(basename()) + (p.is_response_ok() ? " done" : " refused")});
        status = p.get_response_status();
        p.release();
    }
    tlm::tlm_sync_enum nb_transport_bw(bus_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
        CHECK(phase == tlm::BEGIN_RESP);
        done(p, now() + delay.value());
        return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    std::uint64_t data = 0;
    bool atomic = false;
    atomic_extension extension;
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
    calendar_event m_go{method<&requester::go>, this};
};

/// Keeps the calendar busy, so that it runs ahead.
struct ticker : model {
    using model::model;
    void run(ticks until) {
        m_until = until;
        farthest_ahead = 0;
        tick();
    }
    void tick() {
        farthest_ahead = std::max(farthest_ahead, now() - kernel_time());
        if (now() + 1_ns <= m_until) schedule_in(m_tick, 1_ns);
    }
    ticks farthest_ahead = 0, m_until = 0;
    calendar_event m_tick{method<&ticker::tick>, this};
};

/// Our memory behind a foreign initiator: answers after 12 ns, at once or later.
struct our_memory : bus_target {
    using bus_target::bus_target;
    outcome access(bus_payload& p, ticks& latency) override {
        seen.push_back({now(), "our access"});
        if (p.get_address() >= 128) {
            p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return outcome::done;
        }
        if (later) {
            m_payload = &p;
            schedule_in(m_response, 12_ns);
            return outcome::pending;
        }
        access_bytes(p, bytes);
        latency += 12_ns;
        return outcome::done;
    }
    unsigned debug_access(bus_payload& p) override {
        access_bytes(p, bytes);
        return p.get_data_length();
    }
    void reset() override {
        if (m_response.scheduled()) {
            cancel(m_response);
            abandon(*m_payload);
        }
        bus_target::reset();
    }
    void answer() {
        access_bytes(*m_payload, bytes);
        complete(*m_payload);
    }
    bool later = false;
    bus_payload* m_payload = nullptr;
    calendar_event m_response{method<&our_memory::answer>, this};
    std::uint8_t bytes[256] = {};
};

/// A third-party loosely timed initiator: a thread that calls b_transport with a delay.
SC_MODULE(loose_initiator) {
    tlm_utils::simple_initiator_socket<loose_initiator> socket{"socket"};
    SC_HAS_PROCESS(loose_initiator);
    explicit loose_initiator(const sc_core::sc_module_name& name) : sc_module(name) { SC_THREAD(run); }
    void run() {
        for (;;) {
            sc_core::wait(go);
            if (action) action();
        }
    }
    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, std::uint64_t & data,
                                    ticks ahead) {
        bus_payload p;
        p.set_command(command);
        p.set_address(address);
        p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&data));
        p.set_data_length(8);
        p.set_streaming_width(8);
        sc_core::sc_time delay = sc_core::sc_time::from_value(ahead);
        socket->b_transport(p, delay);
        seen.push_back({kernel_time() + delay.value(), std::string(basename()) + " returns"});
        CHECK_FALSE(p.is_dmi_allowed());
        return p.get_response_status();
    }
    sc_core::sc_event go;
    std::function<void()> action;
};

foreign_target_params by(foreign_protocol protocol, bool atomics = false) {
    foreign_target_params p;
    p.protocol = protocol;
    p.atomics = atomics;
    return p;
}

struct machine {
    calendar timeline;
    ticker busy{"busy"};

    blocking_memory b_memory{"b_memory"}, b_memory2{"b_memory2"};
    non_blocking_memory nb_memory{"nb_memory"}, nb_memory2{"nb_memory2"};
    foreign_target<> b_by_b{"b_by_b", by(foreign_protocol::blocking, true)};
    foreign_target<> nb_by_nb{"nb_by_nb", by(foreign_protocol::non_blocking)};
    foreign_target<> nb_by_b{"nb_by_b", by(foreign_protocol::blocking)};
    foreign_target<> b_by_nb{"b_by_nb", by(foreign_protocol::non_blocking)};
    requester to_b_by_b{"to_b_by_b"}, to_nb_by_nb{"to_nb_by_nb"}, to_nb_by_b{"to_nb_by_b"}, to_b_by_nb{"to_b_by_nb"};

    loose_initiator loose{"loose"};
    foreign_initiator<> inward{"inward"};
    our_memory memory{"memory"};

    machine() {
        b_by_b.out.bind(b_memory.socket);
        b_by_nb.out.bind(b_memory2.socket);
        nb_by_nb.out.bind(nb_memory.socket);
        nb_by_b.out.bind(nb_memory2.socket);
        to_b_by_b.bus.bind(b_by_b.bus);
        to_b_by_nb.bus.bind(b_by_nb.bus);
        to_nb_by_nb.bus.bind(nb_by_nb.bus);
        to_nb_by_b.bus.bind(nb_by_b.bus);
        loose.socket.bind(inward.in);
        inward.bus.bind(memory.bus);
        timeline.run_until(0);
    }
};

struct bench {
    bench() : m(the_machine()), t0(m.timeline.now()) {
        seen.clear();
        // 1 ns ticks far beyond what the test does: whatever happens, happens while the calendar runs ahead.
        m.busy.run(t0 + 1_us);
    }
    ~bench() {
        m.loose.action = nullptr;
        m.timeline.run_until(m.timeline.now() + 2_us);
    }
    static machine& the_machine() {
        static machine m;
        return m;
    }
    void run() { m.timeline.run_until(t0 + 1_us); }
    /// How an access at 100 ns ends that our memory has when its initiator, or both, are reset at 105 ns.
    tlm::tlm_response_status status_of_reset_access(tlm::tlm_command command, bool memory_too) {
        m.memory.later = true;
        std::uint64_t data = 1;
        tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
        m.loose.action = [&] { status = m.loose.access(command, 0, data, 0); };
        m.loose.go.notify(sc_core::sc_time(100, sc_core::SC_NS));
        m.timeline.run_until(t0 + 105_ns);
        m.inward.reset();
        if (memory_too) m.memory.reset();
        run();
        return status;
    }
    machine& m;
    ticks t0;
};

}  // namespace

TEST_CASE_METHOD(bench, "a blocking target, called by b_transport") {
    m.to_b_by_b.start(t0 + 100_ns);
    run();
    CHECK(seen == std::vector<entry>{{t0 + 100_ns, "b_transport"}, {t0 + 125_ns, "to_b_by_b done"}});
    CHECK(std::memcmp(m.b_memory.bytes + 8, &m.to_b_by_b.data, 8) == 0);
    CHECK(m.busy.farthest_ahead >= 100_ns);
}

TEST_CASE_METHOD(bench, "a non-blocking target, called by nb_transport") {
    m.to_nb_by_nb.start(t0 + 100_ns);
    run();
    CHECK(seen == std::vector<entry>{{t0 + 100_ns, "nb_transport"}, {t0 + 130_ns, "to_nb_by_nb done"}});
    CHECK(std::memcmp(m.nb_memory.bytes + 8, &m.to_nb_by_nb.data, 8) == 0);
    CHECK(m.busy.farthest_ahead >= 100_ns);
}

TEST_CASE_METHOD(bench, "a non-blocking target that completes at once") {
    m.nb_memory.at_once = true;
    m.to_nb_by_nb.start(t0 + 100_ns);
    run();
    m.nb_memory.at_once = false;
    CHECK(seen == std::vector<entry>{{t0 + 100_ns, "nb_transport"}, {t0 + 107_ns, "to_nb_by_nb done"}});
}

TEST_CASE_METHOD(bench, "a non-blocking target, called by b_transport") {
    m.to_nb_by_b.start(t0 + 100_ns);
    run();
    CHECK(seen == std::vector<entry>{{t0 + 100_ns, "nb_transport"}, {t0 + 130_ns, "to_nb_by_b done"}});
}

TEST_CASE_METHOD(bench, "a blocking target, called by nb_transport") {
    m.to_b_by_nb.start(t0 + 100_ns);
    run();
    CHECK(seen == std::vector<entry>{{t0 + 100_ns, "b_transport"}, {t0 + 125_ns, "to_b_by_nb done"}});
    CHECK(std::memcmp(m.b_memory2.bytes + 8, &m.to_b_by_nb.data, 8) == 0);
}

TEST_CASE_METHOD(bench, "several accesses to a blocking target are under way together") {
    struct sender {
        void go() { r->go(); }
        requester* r;
        calendar_event event{method<&sender::go>, this};
    } second{&m.to_b_by_b}, third{&m.to_b_by_b};
    m.to_b_by_b.start(t0 + 100_ns);
    m.timeline.schedule(second.event, t0 + 100_ns);
    m.timeline.schedule(third.event, t0 + 110_ns);
    run();
    CHECK(seen == std::vector<entry>{{t0 + 100_ns, "b_transport"},
                                     {t0 + 100_ns, "b_transport"},
                                     {t0 + 110_ns, "b_transport"},
                                     {t0 + 125_ns, "to_b_by_b done"},
                                     {t0 + 125_ns, "to_b_by_b done"},
                                     {t0 + 135_ns, "to_b_by_b done"}});
}

TEST_CASE_METHOD(bench, "a non-blocking target gets its next request when it has taken the one before") {
    struct sender {
        void go() { r->go(); }
        requester* r;
        calendar_event event{method<&sender::go>, this};
    } second{&m.to_nb_by_nb};
    m.to_nb_by_nb.start(t0 + 100_ns);
    m.timeline.schedule(second.event, t0 + 101_ns);
    m.timeline.run_until(t0 + 115_ns);
    // The request channel was busy until 103 ns.
    CHECK(seen == std::vector<entry>{{t0 + 100_ns, "nb_transport"}, {t0 + 103_ns, "nb_transport"}});
    CHECK(m.nb_memory.protocol_errors == 0);
    m.nb_by_nb.reset();  // the responses come, but tell that nothing was done
    run();
    REQUIRE(seen.size() == 4);
    CHECK(seen[2] == entry{t0 + 130_ns, "to_nb_by_nb refused"});
    CHECK(seen[3] == entry{t0 + 150_ns, "to_nb_by_nb refused"});
}

TEST_CASE_METHOD(bench, "atomics are refused unless the target knows them") {
    m.to_nb_by_nb.atomic = m.to_b_by_b.atomic = true;
    m.to_nb_by_nb.start(t0 + 100_ns);
    m.to_b_by_b.start(t0 + 200_ns);
    run();
    m.to_nb_by_nb.atomic = m.to_b_by_b.atomic = false;
    CHECK(seen == std::vector<entry>{{t0 + 100_ns, "to_nb_by_nb refused"},
                                     {t0 + 200_ns, "b_transport"},
                                     {t0 + 225_ns, "to_b_by_b done"}});
    CHECK(m.to_nb_by_nb.status == tlm::TLM_COMMAND_ERROR_RESPONSE);
    CHECK(m.nb_by_nb.rejected_atomics.value() == 1);
}

TEST_CASE_METHOD(bench, "debug transport passes both ways") {
    std::uint64_t data = 0x55;
    bus_payload p;
    p.set_write();
    p.set_address(16);
    p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&data));
    p.set_data_length(8);
    CHECK(m.to_b_by_b.bus->transport_dbg(p) == 8);
    CHECK(m.b_memory.bytes[16] == 0x55);
    CHECK(m.loose.socket->transport_dbg(p) == 8);
    CHECK(m.memory.bytes[16] == 0x55);
    tlm::tlm_dmi dmi;
    CHECK_FALSE(m.loose.socket->get_direct_mem_ptr(p, dmi));
    CHECK(m.timeline.now() == t0);
}

TEST_CASE_METHOD(
    bench, "a loosely timed initiator: its accesses happen at time plus delay, and return when they are complete") {
    m.memory.later = GENERATE(false, true);
    std::uint64_t first = 0xabcd, second = 0;
    m.loose.action = [&] {
        CHECK(m.loose.access(tlm::TLM_WRITE_COMMAND, 32, first, 40_ns) == tlm::TLM_OK_RESPONSE);
        CHECK(m.loose.access(tlm::TLM_READ_COMMAND, 32, second, 0) == tlm::TLM_OK_RESPONSE);
        CHECK(m.loose.access(tlm::TLM_READ_COMMAND, 200, second, 5_ns) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    };
    m.loose.go.notify(sc_core::sc_time(100, sc_core::SC_NS));
    run();
    CHECK(seen == std::vector<entry>{{t0 + 140_ns, "our access"},
                                     {t0 + 152_ns, "loose returns"},
                                     {t0 + 152_ns, "our access"},
                                     {t0 + 164_ns, "loose returns"},
                                     {t0 + 169_ns, "our access"},
                                     {t0 + 169_ns, "loose returns"}});
    CHECK(second == 0xabcd);
    CHECK(m.busy.farthest_ahead > 100_ns);
}

TEST_CASE_METHOD(bench, "an access of foreign code comes after calendar events of its time") {
    m.memory.later = false;
    struct marker {
        void fire() { seen.push_back({calendar::current().now(), "ours"}); }
        calendar_event event{method<&marker::fire>, this};
    } same_time;
    m.timeline.schedule(same_time.event, t0 + 100_ns);
    std::uint64_t data = 1;
    m.loose.action = [&] { m.loose.access(tlm::TLM_WRITE_COMMAND, 0, data, 0); };
    m.loose.go.notify(sc_core::sc_time(100, sc_core::SC_NS));
    run();
    CHECK(seen ==
          std::vector<entry>{{t0 + 100_ns, "ours"}, {t0 + 100_ns, "our access"}, {t0 + 112_ns, "loose returns"}});
}

TEST_CASE_METHOD(bench, "a reset ends the accesses of a foreign initiator with an error") {
    CHECK(status_of_reset_access(tlm::TLM_WRITE_COMMAND, true) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    CHECK(seen == std::vector<entry>{{t0 + 100_ns, "our access"}, {t0 + 105_ns, "loose returns"}});
}

TEST_CASE_METHOD(bench, "a target has the data of a foreign initiator until it responds, also where that is reset") {
    CHECK(status_of_reset_access(tlm::TLM_READ_COMMAND, false) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    CHECK(seen == std::vector<entry>{{t0 + 100_ns, "our access"}, {t0 + 112_ns, "loose returns"}});
}

TEST_CASE_METHOD(bench, "a target that answers later refuses b_transport") {
    m.memory.later = true;
    bus_payload p;
    std::uint64_t data = 0;
    p.set_read();
    p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&data));
    p.set_data_length(8);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    auto& target = static_cast<tlm::tlm_fw_transport_if<>&>(*m.inward.bus.operator->());
    CHECK_THROWS_WITH(target.b_transport(p, delay), "memory answers later and needs nb_transport");
    m.memory.reset();
    m.memory.later = false;
    target.b_transport(p, delay);
    CHECK(delay.value() == 12_ns);
}
