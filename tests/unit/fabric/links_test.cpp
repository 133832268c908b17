// SPDX-License-Identifier: Apache-2.0
// Time and bandwidth of links and switches, against closed forms.
#include "unit/fabric/fabric_bench.h"

#include <algorithm>

#include "base/fault.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

interconnect_params two(std::uint64_t entries, std::uint64_t outputs = 1024) {
    interconnect_params p;
    p.devices = {"d0", "d1"};
    p.switches = {make_switch("hub")};
    p.switches[0].input.entries = entries;
    p.switches[0].output_entries = outputs;
    p.links = {make_link("d0", "hub"), make_link("d1", "hub")};
    return p;
}

interconnect_params star() {
    auto p = two(1024);
    p.devices = {"d0", "d1", "d2", "d3"};
    p.links = {make_link("d0", "hub"), make_link("d1", "hub"), make_link("d2", "hub"), make_link("d3", "hub")};
    return p;
}

/// Outputs that hold one packet a channel, so that everything waits at the inputs.
interconnect_params crowded() {
    auto p = two(1024, 10);
    p.devices = {"d0", "d1", "d2"};
    p.links = {make_link("d0", "hub"), make_link("d1", "hub"), make_link("d2", "hub")};
    return p;
}

interconnect_params noisy() {
    auto p = two(1024);
    for (auto& l : p.links) l.bit_error_rate = 1e-5;
    return p;
}

interconnect_params stored() {
    auto p = quad();
    for (auto& s : p.switches) s.cut_through = false;
    return p;
}

interconnect_params apart() {
    auto p = quad();
    p.device.queues_by_destination = true;
    return p;
}

struct machines {
    calendar timeline;
    probed_fabric net{"quad", quad()};
    probed_fabric whole{"stored", stored()};
    probed_fabric narrow{"narrow", two(20)};
    probed_fabric wide{"wide", two(1024)};
    probed_fabric spot{"spot", star()};
    probed_fabric crowd{"crowd", crowded()};
    probed_fabric errors{"noisy", noisy()};
    probed_fabric queues{"apart", apart()};
    static machines& get() {
        static machines m;
        return m;
    }
};

constexpr ticks ns = 1000;
/// Of the stock parameters.
constexpr ticks wire = 1 * ns, pipeline = 30 * ns, device = 5 * ns;
constexpr ticks fast(unsigned bytes) { return bytes * 1000 / 128; }
constexpr ticks slow(unsigned bytes) { return bytes * 1000 / 16; }

ticks one_way(probed_fabric& f, unsigned from, unsigned to, access_kind kind) {
    f.reset();
    f.probes[to]->responds = false;
    const auto begin = calendar::current().now();
    f.probes[from]->at.send(f.probes[from]->make(to, kind));
    run_all();
    REQUIRE(f.probes[to]->requests.size() == 1);
    return f.probes[to]->requests[0].when - begin;
}

}  // namespace

TEST_CASE("latency without load is the sum of what it passes") {
    auto& net = machines::get().net;
    // Cut-through: of the first link the first flit, of the last one the whole packet.
    CHECK(one_way(net, 0, 1, access_kind::read) == fast(16) + wire + pipeline + fast(16) + wire + device);
    CHECK(one_way(net, 0, 1, access_kind::write) == fast(16) + wire + pipeline + fast(80) + wire + device);
    // Onto the slow link the head goes on at once, off it the tail is what counts.
    CHECK(one_way(net, 0, 3, access_kind::read) ==
          fast(16) + wire + pipeline + slow(16) + wire + pipeline + fast(16) + wire + device);
    CHECK(one_way(net, 0, 3, access_kind::write) ==
          fast(16) + wire + pipeline + slow(80) + wire + pipeline + wire + device);
    auto& whole = machines::get().whole;
    CHECK(one_way(whole, 0, 1, access_kind::write) == fast(80) + wire + pipeline + fast(80) + wire + device);
    CHECK(one_way(whole, 0, 3, access_kind::write) ==
          fast(80) + wire + pipeline + slow(80) + wire + pipeline + fast(80) + wire + device);
}

TEST_CASE("a saturated link carries what it can, padding included") {
    auto& net = machines::get().net;
    net.reset();
    constexpr unsigned packets = 4000;
    for (unsigned i = 0; i < packets; ++i)
        net.probes[0]->at.send(net.probes[0]->make(i % 2 ? 2 : 3, access_kind::write));
    const auto begin = calendar::current().now();
    run_all();
    const auto count = net.probes[2]->requests.size() + net.probes[3]->requests.size();
    REQUIRE(count == packets);
    const auto last = std::max(net.probes[2]->requests.back().when, net.probes[3]->requests.back().when);
    const double seconds = static_cast<double>(last - begin) * 1e-12;
    CHECK(packets * 80 / seconds == Approx(16e9).epsilon(0.02));
    CHECK(net.probes[0]->responses.size() == packets);
    CHECK(stat("quad.cluster0.to_cluster1.sent.flits") == packets * 5);
    CHECK(stat("quad.cluster0.to_cluster1.sent.padding_bytes") == packets * 4);
    CHECK(stat("quad.cluster0.to_cluster1.sent.write_request.padded_25_flits") == packets);
    CHECK(stat("quad.cluster0.to_cluster1.sent.write_request.padded_0_flits") == packets * 4);
    CHECK(stat("quad.cluster1.to_cluster0.sent.write_response.padded_75_flits") == packets);
    CHECK(stat("quad.inter_cluster.flits") == packets * 6);
    CHECK(stat("quad.inter_cluster.padded_share") == Approx(2.0 / 6));
    CHECK(stat("quad.cluster0.to_cluster1.utilisation") > 0.97);
    // All of a device's bandwidth inside a cluster.
    net.reset();
    for (unsigned i = 0; i < packets; ++i) net.probes[0]->at.send(net.probes[0]->make(1, access_kind::write));
    const auto start = calendar::current().now();
    run_all();
    CHECK(packets * 80 / (static_cast<double>(net.probes[1]->requests.back().when - start) * 1e-12) ==
          Approx(128e9).epsilon(0.02));
}

TEST_CASE("reads of a saturated link: responses bring 64 of 80 bytes") {
    auto& net = machines::get().net;
    net.reset();
    constexpr unsigned packets = 4000;
    for (unsigned i = 0; i < packets; ++i) net.probes[1]->at.send(net.probes[1]->make(2));
    const auto begin = calendar::current().now();
    run_all();
    const double seconds = static_cast<double>(net.probes[1]->responses.back().when - begin) * 1e-12;
    CHECK(packets * 64 / seconds == Approx(16e9 * 64 / 80).epsilon(0.02));
}

TEST_CASE("credits: never more in a buffer than it holds, and the round trip bounds the rate") {
    auto& m = machines::get();
    const auto rate = [](probed_fabric& f) {
        f.reset();
        constexpr unsigned packets = 5000;
        for (unsigned i = 0; i < packets; ++i) f.probes[0]->at.send(f.probes[0]->make(1, access_kind::write));
        std::uint64_t max_occupied = 0;
        const auto begin = calendar::current().now();
        auto& c = calendar::current();
        while (c.next_event_time() != never) {
            c.run_until(c.next_event_time());
            max_occupied = std::max(max_occupied, f.net.switches[0]->at(0).occupied(virtual_channel::request));
        }
        CHECK(max_occupied <= f.net.switches[0]->params.input.capacity());
        CHECK(f.net.switches[0]->at(0).occupied(virtual_channel::request) == 0);
        REQUIRE(f.probes[1]->requests.size() == packets);
        return packets * 80 / (static_cast<double>(f.probes[1]->requests.back().when - begin) * 1e-12);
    };
    CHECK(rate(m.wide) == Approx(128e9).epsilon(0.02));
    // Two packets fit. Each frees its place when it has left the pipeline, and the credit takes 1 ns: a round of
    // 2 packets lasts from the first one's departure until its credit is back.
    const double round = static_cast<double>(fast(16) + wire + pipeline + 1 * ns);
    CHECK(rate(m.narrow) == Approx(2 * 80 / (round * 1e-12)).epsilon(0.02));
    CHECK(stat("narrow.d0.link.credit_stalls") > 2000);
    CHECK(stat("wide.d0.link.credit_stalls") == 0);
}

TEST_CASE("senders to one destination get equal shares") {
    auto& spot = machines::get().spot;
    spot.reset();
    constexpr unsigned packets = 3000;
    for (unsigned s = 1; s < 4; ++s)
        for (unsigned i = 0; i < packets; ++i) spot.probes[s]->at.send(spot.probes[s]->make(0, access_kind::write));
    run_all();
    const auto& heard = spot.probes[0]->requests;
    REQUIRE(heard.size() == 3 * packets);
    unsigned by[4] = {};
    for (std::size_t i = 0; i < heard.size() / 2; ++i) ++by[heard[i].source];
    for (unsigned s = 1; s < 4; ++s) CHECK(by[s] == Approx(packets / 2).epsilon(0.04));
    CHECK(heard.back().when - heard.front().when == Approx(fast(80) * 3 * packets).epsilon(0.02));
}

TEST_CASE("inputs take turns at an output in each virtual channel by itself") {
    auto& f = machines::get().crowd;
    f.reset();
    constexpr unsigned packets = 2000;
    // Both others write to device 0 and answer its reads: of each kind, either should bring half.
    for (unsigned i = 0; i < packets; ++i)
        for (unsigned s = 1; s < 3; ++s) {
            f.probes[s]->at.send(f.probes[s]->make(0, access_kind::write));
            f.probes[0]->at.send(f.probes[0]->make(s));
        }
    run_all();
    const auto& requests = f.probes[0]->requests;
    const auto& responses = f.probes[0]->responses;
    REQUIRE(requests.size() == 2 * packets);
    REQUIRE(responses.size() == 2 * packets);
    const auto of_first = [](const auto& heard) {
        return std::count_if(heard.begin(), heard.begin() + packets, [](const auto& h) { return h.source == 1; });
    };
    CHECK(of_first(requests) == Approx(packets / 2).epsilon(0.05));
    CHECK(of_first(responses) == Approx(packets / 2).epsilon(0.05));
}

TEST_CASE("requests and responses take turns on a link") {
    auto& wide = machines::get().wide;
    wide.reset();
    constexpr unsigned packets = 2000;
    for (unsigned i = 0; i < packets; ++i) {
        wide.probes[0]->at.send(wide.probes[0]->make(1, access_kind::write));
        wide.probes[1]->at.send(wide.probes[1]->make(0));
    }
    run_all();
    // While there were both, device 1 heard as many requests as responses, which are equally long.
    const auto& requests = wide.probes[1]->requests;
    const auto& responses = wide.probes[1]->responses;
    REQUIRE(requests.size() == packets);
    REQUIRE(responses.size() == packets);
    const auto until = std::min(requests.back().when, responses.back().when);
    const auto heard = [&](const auto& list) {
        return static_cast<double>(
            std::count_if(list.begin(), list.end(), [&](const auto& h) { return h.when <= until; }));
    };
    CHECK(heard(requests) == Approx(packets).epsilon(0.05));
    CHECK(heard(responses) == Approx(packets).epsilon(0.05));
}

TEST_CASE("packets of one pair and channel stay in order") {
    auto& net = machines::get().net;
    net.reset();
    for (unsigned i = 0; i < 500; ++i)
        net.probes[0]->at.send(net.probes[0]->make(3, i % 3 ? access_kind::read : access_kind::write, i % 3 == 2));
    run_all();
    REQUIRE(net.probes[3]->requests.size() == 500);
    for (unsigned i = 0; i < 500; ++i) CHECK(net.probes[3]->requests[i].tag == i);
}

TEST_CASE("responses pass requests that cannot get on") {
    auto& spot = machines::get().spot;
    spot.reset();
    spot.probes[0]->responds = false;
    constexpr unsigned packets = 3000;  // more than all buffers on the way hold
    for (unsigned i = 0; i < packets; ++i) spot.probes[1]->at.send(spot.probes[1]->make(0, access_kind::write));
    run_all();
    CHECK(spot.probes[0]->requests.size() == 256);
    const auto wait = spot.net.terminals[0]->waits();
    REQUIRE(wait);
    CHECK(wait->what.find("serves 256 requests") != std::string::npos);
    const auto stuck = spot.net.switches[0]->at(0).waits();
    REQUIRE(stuck);
    CHECK(stuck->what.find("request credits of spot.d0.link: 2 of 512 flits are left") != std::string::npos);
    // The other way is free: device 0 asks device 1 and is answered on links that requests have filled.
    spot.probes[0]->at.send(spot.probes[0]->make(1));
    run_all();
    CHECK(spot.probes[0]->responses.size() == 1);
    // Answering lets the rest through.
    spot.probes[0]->responds = true;
    const auto waiting = std::move(spot.probes[0]->pending);
    for (const auto& p : waiting) spot.probes[0]->respond(p);
    run_all();
    CHECK(spot.probes[0]->requests.size() == packets);
    CHECK(spot.probes[1]->responses.size() == packets);
    CHECK_FALSE(spot.net.terminals[0]->waits());
}

/// How long a read of a neighbour takes behind many of the other cluster. \param far rate of those, in bytes a second
static ticks near_read_behind_far_ones(probed_fabric& f, double& far) {
    f.reset();
    constexpr unsigned packets = 4000;
    const auto begin = calendar::current().now();
    for (unsigned i = 0; i < packets; ++i) f.probes[0]->at.send(f.probes[0]->make(i % 2 ? 2 : 3));
    f.probes[0]->at.send(f.probes[0]->make(1));
    run_all();
    const auto& heard = f.probes[0]->responses;
    REQUIRE(heard.size() == packets + 1);
    far = packets * 64 / (static_cast<double>(heard.back().when - begin) * 1e-12);
    const auto near = std::find_if(heard.begin(), heard.end(), [](const auto& h) { return h.source == 1; });
    REQUIRE(near != heard.end());
    return near->when - begin;
}

TEST_CASE("a full way holds up what goes elsewhere, unless each destination has its queue") {
    double shared = 0, apart = 0;
    const auto behind = near_read_behind_far_ones(machines::get().net, shared);
    const auto beside = near_read_behind_far_ones(machines::get().queues, apart);
    CHECK(behind >
          3000 * ns);  // the slow link carries a flit in a nanosecond: 4,000 requests of one, less what buffers hold
    CHECK(beside < 300 * ns);                      // alone 158 ns
    CHECK(apart == Approx(shared).epsilon(0.02));  // 24 reads to each of two peers keep the slow link as busy
}

TEST_CASE("corrupted packets are sent again") {
    auto& f = machines::get().errors;
    f.reset();
    constexpr unsigned packets = 20000;
    for (unsigned i = 0; i < packets; ++i) f.probes[0]->at.send(f.probes[0]->make(1, access_kind::write));
    run_all();
    CHECK(f.probes[0]->responses.size() == packets);
    const double bits = packets * 80 * 8;
    CHECK(stat("noisy.d0.link.transmitter.replays") == Approx(bits * 1e-5).epsilon(0.25));
}

TEST_CASE("a device that is not reachable is known not to be") {
    auto& net = machines::get().net;
    CHECK(net.net.terminals[0]->reaches(3));
    CHECK_FALSE(net.net.terminals[0]->reaches(0));
    CHECK_FALSE(net.net.terminals[0]->reaches(4));
    CHECK(net.net.terminals[0]->cluster() == 0);
    CHECK(net.net.terminals[0]->cluster_of(2) == 1);
}

TEST_CASE("where the time of a request went adds up") {
    auto& net = machines::get().net;
    net.reset();
    span_recorder::current().enable(true);
    struct collector final : terminal_client {
        time_breakdown last;
        void packet_received(const packet_ptr& p) override {
            last = p->spans.breakdown(p->injected_at, calendar::current().now());
        }
    } sink;
    net.probes[0]->at.attach(sink);
    for (unsigned i = 0; i < 20; ++i) net.probes[0]->at.send(net.probes[0]->make(3));
    run_all();
    net.probes[0]->at.attach(*net.probes[0]);
    span_recorder::current().enable(false);
    CHECK(sink.last.total > 0);
    CHECK(sink.last.unaccounted == 0);
    ticks sum = 0, queueing = 0;
    for (const auto& s : sink.last.stages) {
        sum += s.queueing + s.service;
        queueing += s.queueing;
    }
    CHECK(sum == sink.last.total);
    CHECK(queueing > 0);
}

namespace {

template <class Change>
void inject(const std::string& target, const std::string& kind, Change change) {
    for (auto* f : all_faults())
        if (f->target() == target && f->kind() == kind) {
            const auto order = f->order();
            change(*order);
            return order->apply();
        }
    FAIL("no fault " << kind << " of " << target);
}

/// Sets one argument of a fault.
struct setter final : parameter_visitor {
    std::string key, text;
    setter(std::string k, std::string t) : key(std::move(k)), text(std::move(t)) {}
    void visit(parameter& p) override {
        if (p.name == key) p.parse(text);
    }
    bool enter(const char*, const char*) override { return true; }
    void leave() override {}
    std::size_t enter_list(const char*, const char*, std::size_t n) override { return n; }
    void enter_item(std::size_t) override {}
    void leave_list() override {}
};

}  // namespace

TEST_CASE("faults of a link: down, fewer lanes, poisoned packets") {
    auto& net = machines::get().net;
    const auto with = [](const char* key, const char* value) {
        return [=](fault_injection& o) {
            setter s(key, value);
            o.describe(s);
        };
    };
    net.reset();
    inject("quad.cluster0.to_cluster1", "down", with("lasting", "3 us"));
    const auto begin = calendar::current().now();
    net.probes[0]->at.send(net.probes[0]->make(2));
    net.probes[0]->at.send(net.probes[0]->make(1));
    calendar::current().run_until(begin + 2'000'000);
    CHECK(net.probes[0]->responses.size() == 1);  // only the way between the clusters is down
    const auto wait = net.net.switches[0]->at(2).waits();
    REQUIRE(wait);
    CHECK(wait->what == "its link to come up");
    run_all();
    REQUIRE(net.probes[0]->responses.size() == 2);
    CHECK(net.probes[0]->responses[1].when - begin > 3'000'000);
    CHECK_FALSE(net.net.switches[0]->at(2).waits());
    net.reset();
    inject("quad.cluster0.to_cluster1", "lanes", with("lanes", "6"));
    for (unsigned i = 0; i < 2000; ++i) net.probes[0]->at.send(net.probes[0]->make(2, access_kind::write));
    const auto start = calendar::current().now();
    run_all();
    const double seconds = static_cast<double>(net.probes[2]->requests.back().when - start) * 1e-12;
    CHECK(2000 * 80 / seconds == Approx(4e9).epsilon(0.02));
    net.reset();
    inject("quad.d0.link", "poison", with("count", "2"));
    for (unsigned i = 0; i < 5; ++i) net.probes[0]->at.send(net.probes[0]->make(2));
    run_all();
    unsigned poisoned = 0;
    for (const auto& r : net.probes[0]->responses) poisoned += r.status == access_status::poisoned;
    CHECK(poisoned == 2);
}

TEST_CASE("a queue of a link that is stuck holds up its virtual channel alone") {
    auto& net = machines::get().net;
    net.reset();
    inject("quad.d0.link", "stuck", [](fault_injection& o) {
        setter channel("channel", "response"), lasting("lasting", "3 us");
        o.describe(channel);
        o.describe(lasting);
    });
    const auto begin = calendar::current().now();
    net.probes[0]->at.send(net.probes[0]->make(1));
    net.probes[1]->at.send(net.probes[1]->make(0));
    calendar::current().run_until(begin + 2'000'000);
    CHECK(net.probes[0]->responses.size() == 1);
    CHECK(net.probes[1]->responses.empty());
    run_all();
    REQUIRE(net.probes[1]->responses.size() == 1);
    CHECK(net.probes[1]->responses[0].when - begin > 3'000'000);
}

TEST_CASE("a repaired link has the lanes that it would have had without the fault") {
    auto& net = machines::get().net;
    net.reset();
    const auto with = [](const std::string& lanes, const std::string& lasting) {
        return [=](fault_injection& o) {
            setter count("lanes", lanes), time("lasting", lasting);
            o.describe(count);
            o.describe(time);
        };
    };
    auto& out = net.net.switches[0]->at(2);
    auto& both = out.duplex();
    const auto run_for = [](ticks t) { calendar::current().run_until(calendar::current().now() + t); };
    both.make_reversible({100 * ns});
    inject("quad.cluster0.to_cluster1", "lanes", with("3", "2 us"));
    inject("quad.cluster0.to_cluster1", "lanes", with("2", "1 us"));
    CHECK(out.transmitter.lanes() == 3);
    both.reverse(out.local_side(), 2);  // meanwhile two lanes reverse
    run_for(500 * ns);
    CHECK(out.transmitter.lanes() == 5);
    run_for(1000 * ns);
    CHECK(out.transmitter.lanes() == 7);
    run_for(1000 * ns);
    CHECK(out.transmitter.lanes() == 10);
    CHECK(out.partner()->transmitter.lanes() == 6);
    both.restore();
    run_all();
    CHECK(out.transmitter.lanes() == 8);
    // All lanes of a direction of a link that turns none: it is down until they are back.
    net.reset();
    CHECK_THROWS_WITH(inject("quad.d0.link", "lanes", with("9", "3 us")), "9 is out of range: give 1 … 8");
    const auto& link = *net.net.terminals[0]->link;
    const auto downs = link.link_downs.total(), failed = link.failed_lanes.total();
    inject("quad.d0.link", "lanes", with("8", "3 us"));
    CHECK(link.transmitter.lanes() == 0);
    CHECK(link.link_downs.total() == downs + 1);
    CHECK(link.failed_lanes.total() == failed + 8);
    const auto begin = calendar::current().now();
    net.probes[0]->at.send(net.probes[0]->make(1));
    run_for(1000 * ns);
    REQUIRE(net.net.terminals[0]->link->waits());
    CHECK(net.net.terminals[0]->link->waits()->what == "its link to come up");
    run_all();
    REQUIRE(net.probes[0]->responses.size() == 1);
    CHECK(net.probes[0]->responses[0].when > begin + 3000 * ns);
}

TEST_CASE("faults of a link outlast resets, and so do their counts") {
    auto& net = machines::get().net;
    net.reset();
    const auto with = [](const char* key, const char* value) {
        return [=](fault_injection& o) {
            setter s(key, value);
            o.describe(s);
        };
    };
    auto& out = *net.net.terminals[0]->link;
    const auto downs = out.link_downs.total(), failed = out.failed_lanes.total();
    inject("quad.d0.link", "lanes", with("lanes", "6"));
    inject("quad.d0.link", "bit_errors", with("rate", "1e-5"));
    inject("quad.d0.link", "down", with("lasting", "3 us"));
    inject("quad.d0.link", "poison", with("count", "1"));
    net.net.reset();
    const auto begin = calendar::current().now();
    CHECK(out.transmitter.bit_error_rate() == 1e-5);
    net.probes[0]->clear();
    net.probes[0]->at.send(net.probes[0]->make(1));
    run_all();
    REQUIRE(net.probes[0]->responses.size() == 1);
    CHECK(net.probes[0]->responses[0].when - begin > 3'000'000);
    CHECK(net.probes[0]->responses[0].status == access_status::poisoned);
    CHECK(out.transmitter.lanes() == 2);
    CHECK(stat("quad.d0.link.faults.down") == 1);
    CHECK(out.link_downs.total() == downs + 1);  // the reset found it down
    CHECK(out.failed_lanes.total() == failed + 6);
    inject("quad.d0.link", "down", with("lasting", "1 us"));
    inject("quad.d0.link", "down", with("lasting", "2 us"));  // it is down already
    run_all();
    CHECK(out.link_downs.total() == downs + 2);
    CHECK(net.net.terminals[1]->link->link_downs.total() == 0);
    net.net.repair();
    CHECK(out.transmitter.lanes() == 8);
    CHECK(out.transmitter.bit_error_rate() == 0);
    net.reset();
}
