// SPDX-License-Identifier: Apache-2.0
// A recording played by two GPUs on a fabric: what it asks for, what limits hold it up, what a reset leaves, and what
// is said of packets that others have changed.
#include <catch2/catch.hpp>

#include "unit/fabric/fabric_bench.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fabric/signature.h"
#include "gpu/replay/player.h"

using namespace fabricvp;
using namespace fabricvp::gpu::replay;
using fabricvp::gpu::line_bytes;

namespace {

enum class limits { wide, narrow, one_walker };

/// Two compute units with one scalar and one instruction cache; limits of one, where they are `narrow`.
gpu::gpu_core_params small(limits how) {
    gpu::gpu_core_params p;
    p.compute_units = 2;
    if (how == limits::one_walker) p.memory.gmmu.walkers = 1;
    if (how != limits::narrow) return p;
    p.memory.unit.l1.mshrs = p.memory.scalar_cache.mshrs = 1;
    p.memory.unit.outstanding_bypasses = 1;
    p.memory.unit.queue = 1;
    p.memory.gmmu.walkers = 1;
    return p;
}
constexpr std::uint16_t l1 = 0, scalar_cache = 2, instruction_cache = 3;

/// What the recording's GPU 0 asks GPU 1 for, and one write in return.
class recorded {
public:
    std::shared_ptr<recording> what = std::make_shared<recording>();

    recorded() {
        what->transactions.resize(1);
        what->walks.resize(1);
        const auto page_table = [&](std::uint64_t line) {
            auto& t = add(line, access_kind::read);
            t.page_table = true;
            t.offset = 8;
            return number();
        };
        const auto first_walk = walk_of({page_table(100), page_table(101)}), second_walk = walk_of({page_table(102)});
        const auto fetch = [&](std::uint64_t line, std::uint16_t cache) {
            auto& t = add(line, access_kind::read);
            t.fetch = true;
            t.cache = cache;
            t.service = 100;
            return number();
        };
        const auto data = fetch(1, l1), more = fetch(2, l1), constant = fetch(3, scalar_cache),
                   other_constant = fetch(4, scalar_cache), code = fetch(5, instruction_cache);
        const auto bypassing = [&](std::uint64_t line, access_kind kind, std::uint8_t operands = 0) {
            add(line, kind).operands = operands;
            return number();
        };
        const auto write = bypassing(6, access_kind::write), atomic = bypassing(6, access_kind::atomic, 8),
                   behind = bypassing(6, access_kind::read), lanes = bypassing(7, access_kind::atomic, line_bytes),
                   plain = bypassing(8, access_kind::read);
        auto& back = add(9, access_kind::write);
        back.gpu = 1;
        back.line = line_of(0, 9);
        const auto returned = number();

        launch l;
        l.groups = 2;
        l.group_wavefronts = 2;
        l.lds_bytes = 1024;
        what->launches = {l, l};
        what->launches[1].gpu = 1;
        what->launches[1].groups = what->launches[1].group_wavefronts = 1;
        for (std::uint32_t group = 0; group < 2; ++group) {
            stream_of(0, group, 0,
                      {access({{first_walk, data}}, true), access({{0, more}, {first_walk, 0}}, true),
                       access({{0, code}}, true), item_of(item_kind::loads), access({{0, group ? plain : write}}),
                       access({{0, group ? lanes : atomic}}), access({{0, group ? data : behind}}, true), waits_for(1),
                       item_of(item_kind::barrier)});
            stream_of(
                0, group, 1,
                {access({{first_walk, data}}, true), access({{second_walk, constant}}, true),
                 access({{0, other_constant}}, true), item_of(item_kind::everything), item_of(item_kind::barrier)});
        }
        stream_of(1, 0, 0, {access({{0, returned}})});
        host_event first, second, last;
        first.delay = 1000;
        second.number = 1;
        second.after = {0};
        last.what = host_event::action::end;
        last.after = {1};
        what->host = {first, second, last};
        what->check(2);
    }

    static std::uint64_t line_of(unsigned gpu, std::uint64_t n) {
        return std::uint64_t{GPU_PA_GPU0 + gpu} << GPU_PA_APERTURE_SHIFT | n * line_bytes;
    }

private:
    transaction& add(std::uint64_t n, access_kind kind) {
        what->transactions.emplace_back();
        what->transactions.back().line = line_of(1, n);
        what->transactions.back().kind = kind;
        return what->transactions.back();
    }
    transaction_id number() const { return static_cast<transaction_id>(what->transactions.size() - 1); }
    walk_id walk_of(const std::vector<transaction_id>& reads) {
        walk w;
        for (const auto r : reads) w.steps.push_back({20, r});
        w.tail = 6;
        what->walks.push_back(w);
        return static_cast<walk_id>(what->walks.size() - 1);
    }
    static item item_of(item_kind kind) {
        item i;
        i.kind = kind;
        i.busy = 4;
        return i;
    }
    static item access(std::vector<dependency> dependencies, bool loads = false) {
        auto i = item_of(item_kind::access);
        i.dependencies = std::move(dependencies);
        i.loads = loads;
        return i;
    }
    static item waits_for(std::uint32_t access) {
        auto i = item_of(item_kind::wait);
        i.accesses = {access};
        return i;
    }
    void stream_of(std::uint32_t launch, std::uint32_t group, std::uint32_t wavefront, std::vector<item> items) {
        item_writer w;
        items.push_back(item_of(item_kind::end));
        for (const auto& i : items) w.write(i);
        what->streams.push_back({launch, group, wavefront, w.bytes()});
    }
};

fabric::interconnect_params two_devices() {
    fabric::interconnect_params p;
    p.devices = {"gpu0", "gpu1"};
    p.switches = {test::make_switch("switch0")};
    p.links = {test::make_link("gpu0", "switch0"), test::make_link("gpu1", "switch0")};
    return p;
}

/// A fabric of two GPUs that are played.
struct machine {
    fabric::interconnect net;
    player play;
    unsigned ends = 0;

    machine(const std::string& name, limits how)
        : net((name + "_fabric").c_str(), two_devices()),
          play(name.c_str(), {recorded().what, 2}, {"gpu0", "gpu1"}, {small(how), small(how)}, net) {
        play.on_end = [this] { ++ends; };
        net.start();
    }
    /// Everything as at power-on.
    void reset() {
        test::run_all();
        net.reset();
        play.reset();
        restart_statistics();
        ends = 0;
    }
    /// \returns how long it took
    ticks run() {
        auto& timeline = calendar::current();
        const auto begin = timeline.now();
        play.start();
        while (!ends && timeline.next_event_time() != never) timeline.run_until(timeline.next_event_time());
        return timeline.now() - begin;
    }
    double of(unsigned gpu, const std::string& name) {
        return test::stat(std::string(play.name()) + ".gpu" + std::to_string(gpu) + "." + name);
    }
};

/// In the place of GPU 1: responses that no memory has given.
class liar final : public fabric::terminal_client {
public:
    enum class lie { bytes, tag, silence };
    lie how = lie::silence;

    explicit liar(fabric::terminal& at) : m_at(at) { at.attach(*this); }
    void packet_received(const fabric::packet_ptr& p) override {
        if (fabric::is_response(p->type) || how == lie::silence) return;
        if (how == lie::tag) p->tag ^= 1u << 30;
        p->valid_sectors = 0xf;
        p->make_response(m_at.format);
        m_at.send(p);
    }
    /// A write that none has recorded.
    void write() {
        const auto p = fabric::make_packet();
        p->kind = access_kind::write;
        p->destination = 0;
        p->tag = 12345;
        p->line = recorded::line_of(0, 77);
        p->byte_mask = ~std::uint64_t{0};
        p->set_request(m_at.format, false, 0);
        m_at.send(p);
        test::run_all();
    }

private:
    fabric::terminal& m_at;
};

struct bench {
    calendar cal{"calendar"};
    machine wide{"wide", limits::wide}, narrow{"narrow", limits::narrow}, one_walker{"one_walker", limits::one_walker},
        deceived{"deceived", limits::wide};
    liar other{*deceived.net.terminals[1]};
};

bench& fresh() {
    static bench b;
    b.wide.reset();
    b.narrow.reset();
    b.one_walker.reset();
    b.deceived.reset();
    return b;
}

constexpr double of_gpu0 = 13;  // transactions

}  // namespace

TEST_CASE("each transaction is asked for once, and the host's launches wait for each other") {
    auto& b = fresh();
    std::map<machine*, ticks> took;
    for (auto* m : {&b.wide, &b.narrow, &b.one_walker}) {
        INFO(m->play.name());
        took[m] = m->run();
        CHECK(m->ends == 1);
        CHECK(m->play.launches.value() == 2);
        CHECK(m->of(0, "requests") == of_gpu0);
        CHECK(m->of(0, "responses") == of_gpu0);
        CHECK(m->of(1, "requests") == 1);
        CHECK(m->of(1, "incoming_requests") == of_gpu0);
        CHECK(m->of(0, "incoming_requests") == 1);
        CHECK(m->of(0, "walks") == 2);
        CHECK(m->of(0, "work_groups") == 2);
        for (const char* wrong : {"failed", "corrupt", "unexpected"}) CHECK(m->of(0, wrong) + m->of(1, wrong) == 0);
        CHECK(m->play.integrity_error().empty());
        CHECK(m->play.progress() == 1);
        CHECK_FALSE(m->play.waits());
    }
    CHECK(took[&b.narrow] > took[&b.wide]);  // what waits for an MSHR or a place goes later
}

TEST_CASE("a walk waits for a walker that is free") {
    auto& b = fresh();
    auto& timeline = calendar::current();
    for (auto* m : {&b.wide, &b.one_walker}) {
        INFO(m->play.name());
        m->play.start();
        while (m->of(0, "walks") < 2 && timeline.next_event_time() != never)
            timeline.run_until(timeline.next_event_time());
        CHECK((m->of(0, "responses") >= 2) == (m == &b.one_walker));  // the first walk reads twice
        test::run_all();
        CHECK(m->ends == 1);
        CHECK(m->of(0, "walks") == 2);
    }
}

TEST_CASE("a reset at any time leaves nothing, and the next run is as long as the first one") {
    auto& b = fresh();
    for (auto* m : {&b.wide, &b.narrow, &b.one_walker}) {
        m->reset();
        const auto whole = m->run();
        for (unsigned part = 1; part < 16; ++part) {
            m->reset();
            m->play.start();
            calendar::current().run_until(calendar::current().now() + whole * part / 16);
            INFO(m->play.name() << " reset after " << part << " of 16 parts");
            m->net.reset();
            m->play.reset();
            for (unsigned g = 0; g < 2; ++g) CHECK(m->play.gpu(g).in_flight() == 0);
            test::run_all();
            CHECK(m->ends == 0);
            restart_statistics();
            CHECK(m->run() == whole);
            CHECK(m->ends == 1);
            CHECK(m->of(0, "responses") == of_gpu0);
            CHECK(m->of(1, "responses") == 1);
            CHECK(m->play.integrity_error().empty());
            CHECK(m->play.progress() == 1);
            CHECK(m->of(0, "unexpected") + m->of(1, "unexpected") == 0);
        }
    }
}

TEST_CASE("responses to what was asked for before a reset are nothing") {
    auto& b = fresh();
    auto& m = b.wide;
    m.play.start();
    while (m.of(1, "incoming_requests") == 0) calendar::current().run_until(calendar::current().next_event_time());
    m.play.reset();  // the fabric goes on
    test::run_all();
    CHECK(m.play.gpu(0).in_flight() == 0);
    CHECK(m.ends == 0);
    m.net.reset();
    restart_statistics();
    m.run();
    CHECK(m.ends == 1);
    CHECK(m.of(0, "responses") == of_gpu0);
}

TEST_CASE("bytes that did not arrive as they were sent are counted, and said") {
    auto& b = fresh();
    auto& m = b.deceived;
    b.other.how = liar::lie::bytes;
    m.run();
    CHECK(m.of(0, "responses") == of_gpu0);
    CHECK(m.of(0, "corrupt") == 10);  // all reads; writes and atomics bring none
    CHECK_THAT(m.play.integrity_error(), Catch::Contains("1 of 14 transactions were never answered"));
    b.other.write();
    CHECK(m.of(0, "unexpected") == 1);
    CHECK(m.of(0, "corrupt") == 11);
}

TEST_CASE("responses to no request and missing ones are counted, and said") {
    auto& b = fresh();
    auto& m = b.deceived;
    for (const auto how : {liar::lie::tag, liar::lie::silence}) {
        m.reset();
        b.other.how = how;
        m.run();
        CHECK(m.ends == 0);
        CHECK((m.of(0, "unexpected") > 0) == (how == liar::lie::tag));
        CHECK(m.of(0, "responses") == 0);
        CHECK(m.play.progress() == 0);
        CHECK_THAT(m.play.integrity_error(), Catch::Contains("transactions were never answered"));
        REQUIRE(m.play.waits());
        CHECK_THAT(m.play.waits()->what, Catch::Contains("launches to end"));
    }
}
