// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "abi/plic.h"
#include "host/plic.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;

namespace {

constexpr unsigned sources = 96, contexts = 4;

struct plic_bench : test::device_bench<host::plic> {
    plic_bench() : device_bench(std::size_t{sources}, std::size_t{contexts}) {}
    void set_priority(unsigned source, std::uint32_t p) { master.write32(PLIC_PRIORITY + 4 * source, p); }
    void enable(unsigned context, unsigned source) {
        const auto at = PLIC_ENABLE + PLIC_ENABLE_STRIDE * context + source / 32 * 4;
        master.write32(at, master.read32(at) | 1u << source % 32);
    }
    void disable(unsigned context, unsigned source) {
        const auto at = PLIC_ENABLE + PLIC_ENABLE_STRIDE * context + source / 32 * 4;
        master.write32(at, master.read32(at) & ~(1u << source % 32));
    }
    void threshold(unsigned context, std::uint32_t t) {
        master.write32(PLIC_THRESHOLD + PLIC_CONTEXT_STRIDE * context, t);
    }
    std::uint32_t claim(unsigned context) { return master.read32(PLIC_CLAIM + PLIC_CONTEXT_STRIDE * context); }
    void complete(unsigned context, std::uint32_t source) {
        master.write32(PLIC_CLAIM + PLIC_CONTEXT_STRIDE * context, source);
    }
    bool pending(unsigned source) { return master.read32(PLIC_PENDING + source / 32 * 4) >> source % 32 & 1; }
    bool line(unsigned context) { return device.external_interrupt[context].level(); }
};

plic_bench& fresh() {
    static plic_bench b;
    for (unsigned s = 1; s <= sources; ++s) b.device.set_source(s, false);
    b.device.reset();
    return b;
}

}  // namespace

TEST_CASE("reset values") {
    auto& b = fresh();
    for (unsigned s = 0; s <= sources; ++s) CHECK(b.master.read32(PLIC_PRIORITY + 4 * s) == 0);
    for (unsigned w = 0; w < 4; ++w) CHECK(b.master.read32(PLIC_PENDING + 4 * w) == 0);
    for (unsigned c = 0; c < contexts; ++c) {
        CHECK(b.master.read32(PLIC_THRESHOLD + PLIC_CONTEXT_STRIDE * c) == 0);
        CHECK(b.claim(c) == 0);
        CHECK_FALSE(b.line(c));
    }
}

TEST_CASE("priority and threshold keep three bits; source 0 and sources above the last do not exist") {
    auto& b = fresh();
    b.set_priority(5, 0xffff'ffff);
    CHECK(b.master.read32(PLIC_PRIORITY + 20) == 7);
    b.set_priority(0, 7);
    CHECK(b.master.read32(PLIC_PRIORITY) == 0);
    b.set_priority(97, 7);
    CHECK(b.master.read32(PLIC_PRIORITY + 4 * 97) == 0);
    b.threshold(1, 0xff);
    CHECK(b.master.read32(PLIC_THRESHOLD + PLIC_CONTEXT_STRIDE) == 7);
    for (unsigned w = 0; w < 4; ++w) b.master.write32(PLIC_ENABLE + 4 * w, 0xffff'ffff);
    CHECK(b.master.read32(PLIC_ENABLE) == 0xffff'fffe);
    CHECK(b.master.read32(PLIC_ENABLE + 4) == 0xffff'ffff);
    CHECK(b.master.read32(PLIC_ENABLE + 8) == 0xffff'ffff);
    CHECK(b.master.read32(PLIC_ENABLE + 12) == 1);  // source 96
    b.master.write32(PLIC_PENDING, 0xffff'ffff);
    CHECK(b.master.read32(PLIC_PENDING) == 0);
}

TEST_CASE("a source interrupts the contexts that enable it, with a priority above their threshold") {
    auto& b = fresh();
    b.set_priority(10, 3);
    b.enable(1, 10);
    b.enable(2, 10);
    b.threshold(2, 3);
    b.device.set_source(10, true);
    CHECK(b.pending(10));
    CHECK_FALSE(b.line(0));
    CHECK(b.line(1));
    CHECK_FALSE(b.line(2));
    b.threshold(2, 2);
    CHECK(b.line(2));
    b.set_priority(10, 0);  // never interrupts
    CHECK_FALSE(b.line(1));
    CHECK(b.claim(1) == 0);
}

TEST_CASE("claim takes the request, completion re-arms the gateway") {
    auto& b = fresh();
    b.set_priority(10, 1);
    b.enable(0, 10);
    b.enable(1, 10);
    b.device.set_source(10, true);
    CHECK(b.claim(1) == 10);
    CHECK_FALSE(b.pending(10));
    CHECK_FALSE(b.line(0));
    CHECK_FALSE(b.line(1));
    CHECK(b.claim(0) == 0);  // the other context lost the race
    b.device.set_source(10, false);
    b.device.set_source(10, true);
    CHECK_FALSE(b.pending(10));  // in service: the gateway forwards nothing

    SECTION("to ask again if the line is still high") {
        b.complete(1, 10);
        CHECK(b.pending(10));
        CHECK(b.line(0));
    }
    SECTION("and to stay quiet if it is low") {
        b.device.set_source(10, false);
        b.complete(1, 10);
        CHECK_FALSE(b.pending(10));
        CHECK_FALSE(b.line(1));
    }
    SECTION("but not from a context where the source is disabled") {
        b.complete(2, 10);
        CHECK_FALSE(b.pending(10));
        b.disable(1, 10);
        b.complete(1, 10);
        CHECK_FALSE(b.pending(10));
        b.complete(0, 10);
        CHECK(b.pending(10));
    }
    SECTION("and nonsense is ignored") {
        b.complete(1, 0);
        b.complete(1, 97);
        b.complete(1, 0xffff'ffff);
        CHECK_FALSE(b.pending(10));
    }
}

TEST_CASE("a request stays pending until claimed, also when its line falls") {
    auto& b = fresh();
    b.set_priority(33, 1);
    b.enable(3, 33);
    b.device.set_source(33, true);
    b.device.set_source(33, false);
    CHECK(b.pending(33));
    CHECK(b.line(3));
    CHECK(b.claim(3) == 33);
    CHECK_FALSE(b.line(3));
}

TEST_CASE("highest priority first, then lowest number; the threshold does not mask the claim") {
    auto& b = fresh();
    for (unsigned s : {7u, 40u, 41u, 96u}) {
        b.enable(0, s);
        b.device.set_source(s, true);
    }
    b.set_priority(7, 1);
    b.set_priority(40, 5);
    b.set_priority(41, 5);
    b.set_priority(96, 6);
    b.threshold(0, 7);
    CHECK_FALSE(b.line(0));
    CHECK(b.claim(0) == 96);
    CHECK(b.claim(0) == 40);
    CHECK(b.claim(0) == 41);
    CHECK(b.claim(0) == 7);
    CHECK(b.claim(0) == 0);
}

TEST_CASE("reset clears claims and sees lines that are still high") {
    auto& b = fresh();
    b.set_priority(11, 2);
    b.enable(0, 11);
    b.device.set_source(11, true);
    CHECK(b.claim(0) == 11);
    b.device.reset();
    CHECK(b.pending(11));
    CHECK_FALSE(b.line(0));  // enables and priorities are gone
}
