// SPDX-License-Identifier: Apache-2.0
// Copy engines at work while links fail at random. Whatever a descriptor reports as done must be there, byte by byte;
// what is lost must be reported; nothing may hang; and afterwards everything works.
#include <catch2/catch.hpp>

#include <array>
#include <random>

#include "cs_storm_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using test::cs_storm_bench;

namespace {

constexpr ticks us = 1'000'000;
constexpr std::uint64_t ring = 0x100000, source = 0x1000000, target = 0x2000000, bytes = 16 << 10;

/// Sets described arguments at random, within what a short test can bear.
struct random_arguments final : parameter_visitor {
    std::mt19937_64& random;
    explicit random_arguments(std::mt19937_64& r) : random(r) {}
    void visit(parameter& p) override {
        const std::string name = p.name;
        if (name == "lasting")
            p.parse(std::to_string(1 + random() % 40) + " us");
        else if (name == "rate")
            p.parse(random() % 4 ? "1e-5" : "1e-4");
        else if (name == "lanes")
            p.parse(std::to_string(std::array{0, 1, 2, 4, 8, 12, 16}[random() % 7]));  // a width, too
        else if (name == "generation")
            p.parse(std::to_string(random() % 4));
        else if (name == "count")
            p.parse(std::to_string(1 + random() % 3));
    }
    bool enter(const char*, const char*) override { return true; }
    void leave() override {}
    std::size_t enter_list(const char*, const char*, std::size_t size) override { return size; }
    void enter_item(std::size_t) override {}
    void leave_list() override {}
};

struct appointment {
    std::unique_ptr<fault_injection> order;
    void keep() { order->apply(); }
    calendar_event event{method<&appointment::keep>, this};
};

void poke(copy_engine& e, std::uint64_t offset, std::uint64_t value, unsigned size) {
    e.registers.write(offset, &value, size);
}

requester_params short_timeout() {
    requester_params r;
    r.completion_timeout = {50 * us};
    return r;
}

}  // namespace

TEST_CASE("what is reported as delivered is right, whatever fails") {
    calendar timeline;
    cs_storm_bench bench("bench", {}, 64, short_timeout());
    std::mt19937_64 random(20261121);
    const auto run = [&](ticks time) { timeline.run_until(timeline.now() + time); };

    std::vector<fault*> kinds;
    for (auto* f : all_faults())
        if (f->kind() != "insertion" && f->kind() != "lose_credit") kinds.push_back(f);  // the test does these itself
    std::uint64_t delivered = 0, failed = 0, unreported = 0;

    for (unsigned round = 0; round < 60; ++round) {
        bench.enumerate();
        for (auto& root_port : bench.root.bridges)
            root_port->space.write(root_port->space.find_extended_capability(aer_id) + aer::uncorrectable_status, 4,
                                   0xffffffff);
        for (std::uint64_t i = 0; i < 8 * bytes; i += 8) {
            const std::uint64_t word = random();
            bench.memory.bytes.write(source + i, &word, 8);
        }
        std::memset(bench.memory.bytes.data() + target, 0, 8 * bytes);
        for (unsigned e = 0; e < 8; ++e) {
            auto& engine = *bench.engines[e];
            const auto memory = cs_storm_bench::engine_base(e);
            const copy_engine_descriptor jobs[2] = {{source + e * bytes, memory, bytes, 0, 0, 0},
                                                    {memory, target + e * bytes, bytes, 0, 0, 0}};
            bench.memory.bytes.write(ring + 0x1000 * e, jobs, sizeof jobs);
            poke(engine, COPY_ENGINE_CONTROL, 0, 4);
            poke(engine, COPY_ENGINE_RING_BASE, ring + 0x1000 * e, 8);
            poke(engine, COPY_ENGINE_RING_SIZE, 2, 4);
            poke(engine, COPY_ENGINE_CONTROL, COPY_ENGINE_CONTROL_ENABLE, 4);
            poke(engine, COPY_ENGINE_DOORBELL, 2, 4);
        }

        std::vector<std::unique_ptr<appointment>> appointments;
        for (unsigned i = 0; i < 1 + round % 8; ++i) {
            auto a = std::make_unique<appointment>();
            a->order = kinds[random() % kinds.size()]->order();
            random_arguments arguments(random);
            a->order->describe(arguments);
            timeline.schedule(a->event, timeline.now() + random() % (20 * us));
            appointments.push_back(std::move(a));
        }
        run(1000 * us);

        bool reported = false;
        for (const auto& root_port : bench.root.bridges)
            reported =
                reported ||
                root_port->space.get(root_port->space.find_extended_capability(aer_id) + aer::uncorrectable_status, 4);
        for (unsigned e = 0; e < 8; ++e) {
            copy_engine_descriptor jobs[2];
            bench.memory.bytes.read(ring + 0x1000 * e, jobs, sizeof jobs);
            const bool done = jobs[0].status == COPY_ENGINE_DONE && jobs[1].status == COPY_ENGINE_DONE;
            ++(done ? delivered : failed);
            const auto* memory = bench.memory.bytes.data();
            if (done && std::memcmp(memory + source + e * bytes, memory + target + e * bytes, bytes) != 0 && !reported)
                ++unreported;
            CHECK(bench.engines[e]->dma.outstanding() == 0);
        }

        // Repair: devices back in, links clean and at full width, credits complete.
        for (auto& e : bench.engines) e->link.set_present(true);
        run(100 * us);
        for (auto* f : all_faults()) {
            if (auto* p = dynamic_cast<port*>(sc_core::sc_find_object(f->target().c_str()))) p->faults.repair();
            if (f->kind() != "bit_errors" && f->kind() != "retrain") continue;
            auto order = f->order();
            struct : parameter_visitor {
                void visit(parameter& p) override {
                    if (std::string(p.name) == "rate") p.parse("0");
                }
                bool enter(const char*, const char*) override { return true; }
                void leave() override {}
                std::size_t enter_list(const char*, const char*, std::size_t size) override { return size; }
                void enter_item(std::size_t) override {}
                void leave_list() override {}
            } clean;
            order->describe(clean);
            order->apply();
        }
        run(500 * us);
    }
    INFO("delivered " << delivered << ", failed " << failed);
    CHECK(unreported == 0);
    CHECK(delivered > 200);  // of 480
    CHECK(failed > 20);

    // And the tree is as good as new.
    bench.enumerate();
    for (unsigned e = 0; e < 8; ++e) {
        std::memset(bench.engines[e]->memory.data(), static_cast<int>(e) + 1, 1 << 18);
        bench.engines[e]->push(0, cs_storm_bench::engine_base((e + 3) % 8) + (1 << 20), 1 << 18, {});
    }
    run(2000 * us);
    for (unsigned e = 0; e < 8; ++e)
        CHECK(std::memcmp(bench.engines[e]->memory.data(), bench.engines[(e + 3) % 8]->memory.data() + (1 << 20),
                          1 << 18) == 0);
    for (auto& e : bench.engines) CHECK_FALSE(e->link.waits());
}
