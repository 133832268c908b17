// SPDX-License-Identifier: Apache-2.0
#include "unit/network/network_bench.h"

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "network/switch.h"
#include "network/wire.h"

using namespace fabricvp;
using namespace fabricvp::test;
using namespace fabricvp::time_literals;

namespace {

port_params large_buffers(std::uint64_t buffer = 32768) {
    port_params p;
    p.buffer = {buffer};
    return p;
}

/// Adapters with LIDs 1, 2, … around one switch.
struct star {
    network_switch hub;
    std::vector<std::unique_ptr<adapter>> ends;

    star(const std::string& name, unsigned n, const switch_params& p, const port_params& at_ends = {},
         const std::vector<port_params>& special = {})
        : hub((name + "_hub").c_str(), p, names(n)) {
        for (unsigned i = 0; i < n; ++i) {
            ends.push_back(std::make_unique<adapter>((name + "_end" + std::to_string(i)).c_str(),
                                                     i < special.size() ? special[i] : at_ends));
            connect(ends[i]->link, *hub.ports[i]);
        }
        hub.update_lane_tables();
        for (unsigned i = 0; i < n; ++i) {
            ends[i]->link.configure(static_cast<std::uint16_t>(i + 1));
            hub.ports[i]->configure(0);
            hub.set_route(static_cast<std::uint16_t>(i + 1), static_cast<std::uint8_t>(i + 1));
        }
    }
    static std::vector<std::string> names(unsigned n) {
        std::vector<std::string> all;
        for (unsigned i = 0; i < n; ++i) all.push_back("to_end" + std::to_string(i));
        return all;
    }
    void clear() {
        for (auto& e : ends) e->received.clear();
    }
    std::uint64_t dropped() const {
        std::uint64_t sum = 0;
        for (unsigned r = 0; r < drop_reasons; ++r) {
            for (auto& p : hub.ports) sum += p->dropped(static_cast<drop_reason>(r)).total();
            for (auto& e : ends) sum += e->link.dropped(static_cast<drop_reason>(r)).total();
        }
        return sum;
    }
};

switch_params storing() {
    switch_params p;
    p.cut_through = false;
    return p;
}

switch_params tight() {
    switch_params p;
    p.port.buffer = {4608};
    p.port.queue = 1;
    return p;
}

std::vector<port_params> one_slow() {
    port_params slow;
    slow.rate = link_rate::sdr;
    return {slow};
}

struct machines {
    calendar timeline;
    star cut{"cut", 3, {}}, stored{"stored", 3, storing()}, slow{"slow", 3, {}, {}, one_slow()},
        crowd{"crowd", 5, tight(), large_buffers(4608)}, lanes{"lanes", 3, tight(), large_buffers(4608)},
        faulty{"faulty", 3, {}}, noisy{"noisy", 2, {}}, dying{"dying", 3, tight(), large_buffers(4608)},
        invalid{"invalid", 3, {}};
};

machines& all() {
    static machines m;
    return m;
}

ticks time() { return all().timeline.now(); }
constexpr ticks wire_time(std::size_t payload) { return (payload + 8 + 12 + 8 + 4 + 4) * 80; }  // at EDR 4x

void inject(const std::string& target, const std::string& kind,
            const std::vector<std::pair<std::string, std::string>>& arguments = {}) {
    struct setter final : parameter_visitor {
        explicit setter(const std::vector<std::pair<std::string, std::string>>& a) : arguments(a) {}
        const std::vector<std::pair<std::string, std::string>>& arguments;
        void visit(parameter& p) override {
            for (const auto& [name, value] : arguments)
                if (name == p.name) p.parse(value);
        }
        bool enter(const char*, const char*) override { return true; }
        void leave() override {}
        std::size_t enter_list(const char*, const char*, std::size_t n) override { return n; }
        void enter_item(std::size_t) override {}
        void leave_list() override {}
    };
    for (auto* f : all_faults())
        if (f->target() == target && f->kind() == kind) {
            const auto order = f->order();
            setter s(arguments);
            order->describe(s);
            order->apply();
            return;
        }
    FAIL("no fault " << kind << " at " << target);
}

}  // namespace

TEST_CASE("a hop takes the pipeline from the packet's head on, or from its end where packets are stored") {
    for (auto* s : {&all().cut, &all().stored}) {
        const auto begin = time();
        s->ends[0]->send(make_datagram(3, 2048));
        run_all();
        REQUIRE(s->ends[2]->received.size() == 1);
        const auto head = s == &all().cut ? 8 * 80_ps : wire_time(2048);
        CHECK(s->ends[2]->received[0].when == begin + head + 10_ns + 90_ns + wire_time(2048) + 10_ns);
        CHECK(s->ends[1]->received.empty());
    }
}

TEST_CASE(
    "a packet that leaves faster than it came is not cut short, and one that leaves more slowly starts at its head") {
    auto& s = all().slow;
    const auto slow_time = (2048 + 36) * 1000_ps;  // SDR 4x: 1 GB/s
    auto begin = time();
    s.ends[0]->send(make_datagram(2, 2048));
    run_all();
    REQUIRE(s.ends[1]->received.size() == 1);
    CHECK(s.ends[1]->received[0].when == begin + slow_time + 10_ns + 90_ns + 10_ns);
    begin = time();
    s.ends[1]->send(make_datagram(1, 2048));
    run_all();
    REQUIRE(s.ends[0]->received.size() == 1);
    CHECK(s.ends[0]->received[0].when == begin + 8 * 80_ps + 10_ns + 90_ns + slow_time + 10_ns);
}

TEST_CASE("an output that all want is saturated, and each gets its share, in order") {
    auto& s = all().crowd;
    constexpr unsigned each = 100;
    for (unsigned i = 0; i < each; ++i)
        for (unsigned from = 1; from < 5; ++from) {
            auto p = make_datagram(1, 2048, i);
            p->lrh.slid = static_cast<std::uint16_t>(from + 1);
            s.ends[from]->send(p);
        }
    run_all();
    auto& heard = s.ends[0]->received;
    REQUIRE(heard.size() == 4 * each);
    std::map<unsigned, std::uint32_t> next;
    for (const auto& h : heard) CHECK(h.psn == next[h.packet->lrh.slid]++);
    // Fair: when the first is done, no other is more than two packets behind.
    std::map<unsigned, unsigned> count;
    for (const auto& h : heard) {
        if (++count[h.packet->lrh.slid] < each) continue;
        for (unsigned from = 2; from <= 5; ++from) CHECK(count[from] + 2 >= each);
        break;
    }
    CHECK(s.hub.blocked.total() > 0);
    // Two packets' credits cover the way of the first one's credits back, so the last link never idles.
    CHECK(heard.back().when - heard.front().when == (4 * each - 1) * wire_time(2048));
    CHECK(s.hub.waiting() == 0);
}

TEST_CASE("a lane that is blocked holds up no other lane") {
    auto& s = all().lanes;
    s.ends[1]->keeps = true;
    for (unsigned i = 0; i < 8; ++i) s.ends[0]->send(make_datagram(2, 4096, i, 0));
    run_all();
    CHECK(s.ends[1]->received.size() == 1);
    for (unsigned i = 0; i < 4; ++i) s.ends[2]->send(make_datagram(1, 4096, i, 1));
    s.ends[0]->unsent.clear();  // what waits for room at this end
    s.ends[0]->send(make_datagram(3, 64, 99, 1));
    run_all();
    CHECK(s.ends[0]->received.size() == 4);
    REQUIRE(s.ends[2]->received.size() == 1);
    CHECK(s.ends[2]->received[0].lane == 1);
    s.ends[1]->keeps = false;
    s.ends[1]->release_all();
    run_all();
    CHECK(s.hub.waiting() == 0);
}

TEST_CASE("service levels are mapped to lanes by input and output") {
    auto& s = all().cut;
    s.clear();
    s.hub.set_lane(1, 3, 5, 2);
    s.hub.set_lane(2, 3, 5, 6);
    s.hub.set_lane(2, 3, 4, management_lane);
    s.ends[0]->send(make_datagram(3, 8, 0, 5));
    run_all();
    s.ends[1]->send(make_datagram(3, 8, 1, 5));
    s.ends[1]->send(make_datagram(3, 8, 2, 4));
    run_all();
    REQUIRE(s.ends[2]->received.size() == 2);
    CHECK(s.ends[2]->received[0].lane == 2);
    CHECK(s.ends[2]->received[1].lane == 6);
    CHECK(s.hub.ports[1]->dropped(drop_reason::no_route).total() == 1);
    s.hub.update_lane_tables();
}

TEST_CASE("what has no way is dropped and counted, and its buffer is free again") {
    auto& s = all().cut;
    s.clear();
    const auto before = s.hub.ports[0]->dropped(drop_reason::no_route).total();
    for (unsigned i = 0; i < 50; ++i) s.ends[0]->send(make_datagram(static_cast<std::uint16_t>(77 + 1000 * i), 4096));
    run_all();
    CHECK(s.hub.ports[0]->dropped(drop_reason::no_route).total() == before + 50);
    s.ends[0]->send(make_datagram(2, 4096));
    run_all();
    CHECK(s.ends[1]->received.size() == 1);
}

TEST_CASE("injected losses, corruptions and flaps") {
    auto& s = all().faulty;
    const std::string link = "faulty_end0.link";
    inject(link, "drop", {{"count", "2"}});
    for (unsigned i = 0; i < 4; ++i) s.ends[0]->send(make_datagram(2, 4096, i));
    run_all();
    REQUIRE(s.ends[1]->received.size() == 2);
    CHECK(s.ends[1]->received[0].psn == 2);
    CHECK(s.ends[0]->link.dropped(drop_reason::injected).total() == 2);
    s.clear();

    // With cut-through, the long packet was on its way before its bad end came: the last port has all of it and drops
    // it.
    inject(link, "corrupt", {{"count", "2"}});
    s.ends[0]->send(make_datagram(2, 4096));
    s.ends[0]->send(make_datagram(2, 256));
    run_all();
    CHECK(s.ends[1]->received.empty());
    CHECK(s.ends[1]->link.dropped(drop_reason::corrupted).total() == 1);
    CHECK(s.hub.ports[0]->dropped(drop_reason::corrupted).total() == 1);

    inject(link, "corrupt", {{"where", "payload"}});
    s.ends[0]->send(make_datagram(2, 256));
    run_all();
    REQUIRE(s.ends[1]->received.size() == 1);
    CHECK(s.ends[1]->received[0].packet->corrupted == corruption::payload);
    CHECK_FALSE(has_good_invariant_crc(encode(*s.ends[1]->received[0].packet)));
    s.clear();

    inject(link, "loss", {{"rate", "0.25"}, {"lasting", "1 ms"}});
    for (unsigned i = 0; i < 4000; ++i) s.ends[0]->send(make_datagram(2, 256, i));
    run_all();
    CHECK(s.ends[1]->received.size() == Approx(3000).margin(150));
    s.clear();
    s.ends[0]->send(make_datagram(2, 256));
    run_all();
    CHECK(s.ends[1]->received.size() == 1);
    s.clear();

    inject("faulty_hub.to_end1", "down", {{"lasting", "20 us"}});
    for (unsigned i = 0; i < 10; ++i) s.ends[0]->send(make_datagram(2, 256, i));
    run_all();
    CHECK(s.ends[1]->received.empty());
    CHECK(s.ends[1]->link.up());
    s.ends[0]->send(make_datagram(2, 256));
    run_all();
    CHECK(s.ends[1]->received.size() == 1);
}

TEST_CASE("bits that err: lost packets are as many as the rate says, and none arrives wrong") {
    auto& s = all().noisy;
    inject("noisy_end0.link", "bit_errors", {{"rate", "1e-5"}});
    constexpr unsigned packets = 20'000;
    for (unsigned i = 0; i < packets; ++i) s.ends[0]->send(make_datagram(2, 1024, i));
    run_all();
    const double good = std::pow(1 - 1e-5, 8.0 * (1024 + 36));
    CHECK(static_cast<double>(s.ends[1]->received.size()) == Approx(packets * good).epsilon(0.01));
    CHECK(s.ends[1]->received.size() + s.dropped() == packets);
    std::uint32_t last = 0;
    for (const auto& h : s.ends[1]->received) {
        REQUIRE(h.packet->corrupted == corruption::none);
        CHECK(h.psn >= last);
        last = h.psn;
        for (std::size_t i = 0; i < h.packet->payload.length; i += 97)
            REQUIRE(h.packet->payload.data()[i] == static_cast<std::uint8_t>(h.psn + i));
    }
}

TEST_CASE("a switch that dies loses what it holds, and nothing else is lost uncounted") {
    auto& s = all().dying;
    for (unsigned i = 0; i < 100; ++i)
        for (unsigned from = 1; from < 3; ++from) s.ends[from]->send(make_datagram(1, 2048, i));
    all().timeline.run_until(time() + 10_us);
    const auto heard = s.ends[0]->received.size();
    CHECK(heard > 10);
    inject("dying_hub", "dead");
    run_all();
    CHECK(s.ends[0]->received.size() >= heard);
    CHECK(s.ends[0]->received.size() + s.dropped() == 200);
    CHECK_FALSE(s.ends[1]->link.up());
    CHECK(s.hub.ports[1]->dropped(drop_reason::switch_dead).total() +
              s.hub.ports[2]->dropped(drop_reason::switch_dead).total() >
          0);
}

TEST_CASE("invalid headers harm no other packet") {
    auto& s = all().invalid;
    std::mt19937_64 random(1);
    std::uint64_t sent = 0;
    for (unsigned i = 0; i < 20'000; ++i) {
        const auto p = make_packet();
        p->bth.opcode = static_cast<std::uint8_t>(random());
        p->bth.destination_qp = random() % 3 ? static_cast<std::uint32_t>(random()) : 0;
        p->lrh.dlid = random() % 2 ? static_cast<std::uint16_t>(random()) : 2;
        p->lrh.sl = static_cast<std::uint8_t>(random());
        p->lrh.vl = static_cast<std::uint8_t>(random());
        p->lrh.global = random() & 1;
        if (const auto bytes = random() % 5000; bytes && random() % 4) p->payload = allocate_slice(bytes);
        s.ends[random() % 3]->send(p);
        ++sent;
    }
    run_all();
    std::uint64_t heard = 0;
    for (auto& e : s.ends) {
        heard += e->received.size();
        CHECK(e->unsent.empty());
    }
    CHECK(heard + s.dropped() == sent);
    s.clear();
    for (unsigned i = 0; i < 20; ++i) s.ends[0]->send(make_datagram(2, 4096, i));
    run_all();
    CHECK(s.ends[1]->received.size() == 20);
}
