// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "abi/aplic.h"
#include "host/aplic_domain.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;

namespace {

constexpr unsigned sources = 96, harts = 2;
using messages = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

/// Root and child domain; their messages, if they send any.
struct domains {
    messages sent;
    host::aplic_domain root, child;
    test::bus_master machine, supervisor;

    domains(const std::string& prefix, bool by_message)
        : root((prefix + "_root").c_str(), sources, harts, nullptr, sender(by_message)),
          child((prefix + "_child").c_str(), sources, harts, &root, sender(by_message)),
          machine((prefix + "_machine").c_str()),
          supervisor((prefix + "_supervisor").c_str()) {
        machine.socket.bind(root.bus);
        supervisor.socket.bind(child.bus);
    }
    host::aplic_domain::msi_sender sender(bool by_message) {
        if (!by_message) return {};
        return [this](std::uint64_t address, std::uint32_t data) {
            sent.emplace_back(address, data);
            if (on_message) on_message(data);
        };
    }
    std::function<void(std::uint32_t data)> on_message;
    void restart() {
        for (unsigned s = 1; s <= sources; ++s) root.set_source(s, false);
        root.reset();
        child.reset();
        sent.clear();
        on_message = nullptr;
    }
};

struct bench {
    calendar cal{"calendar"};
    domains by_message{"by_message", true}, direct{"direct", false};
    bench() { cal.run_until(0); }
};

bench& fresh() {
    static bench b;
    b.by_message.restart();
    b.direct.restart();
    return b;
}

void configure(test::bus_master& m, unsigned source, std::uint32_t mode, std::uint32_t target) {
    m.write32(APLIC_SOURCECFG + 4 * (source - 1), mode);
    m.write32(APLIC_TARGET + 4 * (source - 1), target);
    m.write32(APLIC_SETIENUM, source);
}
bool pending(test::bus_master& m, unsigned source) {
    return m.read32(APLIC_SETIP + source / 32 * 4) >> source % 32 & 1;
}
bool input(test::bus_master& m, unsigned source) {
    return m.read32(APLIC_IN_CLRIP + source / 32 * 4) >> source % 32 & 1;
}
std::uint32_t to(std::uint32_t hart, std::uint32_t value) { return hart << APLIC_TARGET_HART_SHIFT | value; }

/// Interrupt files at 0x24000000 and 0x28000000, a page a hart.
void assign_addresses(domains& d) {
    d.machine.write32(APLIC_MMSIADDRCFG, 0x24000);
    d.machine.write32(APLIC_MMSIADDRCFGH, 1u << APLIC_MSIADDR_LHXW_SHIFT);
    d.machine.write32(APLIC_SMSIADDRCFG, 0x28000);
    d.machine.write32(APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE);
    d.supervisor.write32(APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE);
}

}  // namespace

TEST_CASE("reset values and what is fixed") {
    auto& b = fresh();
    CHECK(b.by_message.machine.read32(APLIC_DOMAINCFG) == 0x80000004);
    CHECK(b.direct.machine.read32(APLIC_DOMAINCFG) == 0x80000000);
    b.direct.machine.write32(APLIC_DOMAINCFG, ~0u);
    CHECK(b.direct.machine.read32(APLIC_DOMAINCFG) == 0x80000100);
    b.direct.machine.write8(APLIC_DOMAINCFG, 0);
    CHECK(b.direct.machine.last_status != tlm::TLM_OK_RESPONSE);
    CHECK(b.by_message.machine.read32(APLIC_TARGET) == 0);
}

TEST_CASE("an edge is forwarded once, to the hart that target names") {
    auto& b = fresh();
    auto& d = b.by_message;
    assign_addresses(d);
    configure(d.machine, 5, APLIC_SOURCE_EDGE1, to(1, 77));
    d.root.set_source(5, true);
    CHECK(d.sent == messages{{0x24001000, 77}});
    CHECK_FALSE(pending(d.machine, 5));
    CHECK(input(d.machine, 5));
    d.root.set_source(5, false);
    CHECK(d.sent.size() == 1);
    d.root.set_source(5, true);
    CHECK(d.sent.size() == 2);
}

TEST_CASE("a level that stays is sent again when software asks, not when it has fallen") {
    auto& b = fresh();
    auto& d = b.by_message;
    assign_addresses(d);
    configure(d.machine, 5, APLIC_SOURCE_LEVEL1, to(0, 9));
    d.root.set_source(5, true);
    d.machine.write32(APLIC_SETIPNUM, 5);
    CHECK(d.sent == messages{{0x24000000, 9}, {0x24000000, 9}});
    d.root.set_source(5, false);
    d.machine.write32(APLIC_SETIPNUM, 5);
    CHECK(d.sent.size() == 2);
    // Not enabled: it waits, until the line falls.
    d.machine.write32(APLIC_CLRIENUM, 5);
    d.root.set_source(5, true);
    CHECK(pending(d.machine, 5));
    d.root.set_source(5, false);
    CHECK_FALSE(pending(d.machine, 5));
    // An inverted line is asserted while it is low.
    configure(d.machine, 6, APLIC_SOURCE_LEVEL0, to(0, 10));
    CHECK(d.sent.back().second == 10);
    CHECK(input(d.machine, 6));
}

TEST_CASE("nothing is sent before the domain is switched on, then in order of numbers") {
    auto& b = fresh();
    auto& d = b.by_message;
    assign_addresses(d);
    d.machine.write32(APLIC_DOMAINCFG, 0);
    for (const unsigned s : {40u, 3u}) {
        configure(d.machine, s, APLIC_SOURCE_DETACHED, to(0, s));
        d.machine.write32(APLIC_SETIPNUM_LE, s);
    }
    CHECK(d.sent.empty());
    d.machine.write32(APLIC_GENMSI, to(1, 12));  // this one does not wait
    d.machine.write32(APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE);
    CHECK(d.sent == messages{{0x24001000, 12}, {0x24000000, 3}, {0x24000000, 40}});
}

TEST_CASE("messages that lead back to their domain take time and do not nest") {
    auto& b = fresh();
    auto& d = b.by_message;
    assign_addresses(d);
    unsigned depth = 0, deepest = 0;
    const auto ring = [&](test::bus_master& to, std::uint64_t at) {
        d.sent.clear();
        d.on_message = [&, at](std::uint32_t data) {
            deepest = std::max(deepest, ++depth);
            to.write32(at, data);
            --depth;
        };
    };
    const auto messages_within = [&](ticks span) {
        b.cal.run_until(b.cal.now() + span);
        return d.sent.size();
    };
    // An extempore MSI that asks for itself.
    ring(d.machine, APLIC_GENMSI);
    d.machine.write32(APLIC_GENMSI, to(0, 12));
    CHECK(d.sent.size() == 1);
    CHECK(messages_within(1_us) == 101);
    d.on_message = nullptr;
    CHECK(messages_within(1_us) == 102);
    CHECK(messages_within(1_us) == 102);
    // A source that sets itself pending, then two, of which one is the other's.
    configure(d.machine, 3, APLIC_SOURCE_DETACHED, to(0, 3));
    ring(d.machine, APLIC_SETIPNUM_LE);
    d.machine.write32(APLIC_SETIPNUM_LE, 3);
    CHECK(messages_within(1_us) == 101);
    d.on_message = nullptr;
    messages_within(1_us);
    d.machine.write32(APLIC_TARGET + 4 * 2, to(0, 4));
    configure(d.machine, 4, APLIC_SOURCE_DETACHED, to(0, 3));
    ring(d.machine, APLIC_SETIPNUM_LE);
    d.machine.write32(APLIC_SETIPNUM_LE, 3);
    CHECK(messages_within(1_us) >= 100);
    // Each domain sets the source of the other.
    for (const auto s : {3u, 4u}) d.machine.write32(APLIC_SOURCECFG + 4 * (s - 1), APLIC_SOURCE_INACTIVE);
    messages_within(1_us);
    d.machine.write32(APLIC_SOURCECFG + 4 * 7, APLIC_SOURCECFG_DELEGATE);
    configure(d.supervisor, 8, APLIC_SOURCE_DETACHED, to(0, 8));
    configure(d.machine, 9, APLIC_SOURCE_DETACHED, to(0, 9));
    d.sent.clear();
    d.on_message = [&](std::uint32_t data) {
        deepest = std::max(deepest, ++depth);
        if (data == 9)
            d.supervisor.write32(APLIC_SETIPNUM_LE, 8);
        else
            d.machine.write32(APLIC_SETIPNUM_LE, 9);
        --depth;
    };
    d.machine.write32(APLIC_SETIPNUM_LE, 9);
    CHECK(messages_within(1_us) >= 100);
    CHECK(messages_within(1_us) <= 500);
    CHECK(deepest <= 4);
    // A reset ends it.
    b.by_message.restart();
    CHECK(messages_within(1_us) == 0);
}

TEST_CASE("a delegated source is the child's, and comes back") {
    auto& b = fresh();
    auto& d = b.by_message;
    assign_addresses(d);
    configure(d.supervisor, 8, APLIC_SOURCE_EDGE1, to(1, 20));  // not delegated yet
    CHECK(d.supervisor.read32(APLIC_SOURCECFG + 4 * 7) == 0);
    d.machine.write32(APLIC_SOURCECFG + 4 * 7, APLIC_SOURCECFG_DELEGATE);
    CHECK(d.supervisor.read32(APLIC_SOURCECFG + 4 * 7) == 0);
    configure(d.supervisor, 8, APLIC_SOURCE_EDGE1, to(1, 20));
    d.supervisor.write32(APLIC_SOURCECFG + 4 * 8, APLIC_SOURCECFG_DELEGATE);  // a leaf cannot
    CHECK(d.supervisor.read32(APLIC_SOURCECFG + 4 * 8) == 0);
    d.root.set_source(8, true);
    CHECK(d.sent == messages{{0x28001000, 20}});
    d.machine.write32(APLIC_SOURCECFG + 4 * 7, APLIC_SOURCE_INACTIVE);
    CHECK(d.supervisor.read32(APLIC_SOURCECFG + 4 * 7) == 0);
    CHECK(d.supervisor.read32(APLIC_TARGET + 4 * 7) == 0);
    CHECK(d.supervisor.read32(APLIC_SETIE) == 0);
}

TEST_CASE("message addresses can be locked, and belong to the root") {
    auto& b = fresh();
    auto& d = b.by_message;
    d.supervisor.write32(APLIC_MMSIADDRCFG, 5);
    CHECK(d.supervisor.read32(APLIC_MMSIADDRCFG) == 0);
    // Groups of two harts, a group 2^24 pages apart, a hart every second page.
    d.machine.write32(APLIC_MMSIADDRCFG, 0x100);
    d.machine.write32(APLIC_MMSIADDRCFGH, APLIC_MSIADDR_LOCK | 1u << APLIC_MSIADDR_LHXW_SHIFT |
                                              1u << APLIC_MSIADDR_HHXW_SHIFT | 1u << APLIC_MSIADDR_LHXS_SHIFT |
                                              12u << APLIC_MSIADDR_HHXS_SHIFT);
    d.machine.write32(APLIC_MMSIADDRCFG, 0);
    d.machine.write32(APLIC_SMSIADDRCFG, 7);
    CHECK(d.machine.read32(APLIC_MMSIADDRCFG) == 0x100);
    CHECK(d.machine.read32(APLIC_SMSIADDRCFG) == 0);
    d.machine.write32(APLIC_GENMSI, to(3, 1));
    CHECK(d.sent == messages{{(0x100ull | 1ull << 24 | 2) << 12, 1}});
}

TEST_CASE("direct delivery: priorities, threshold, claim, force") {
    auto& b = fresh();
    auto& d = b.direct;
    d.machine.write32(APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE);
    configure(d.machine, 5, APLIC_SOURCE_EDGE1, to(1, 4));
    configure(d.machine, 6, APLIC_SOURCE_LEVEL1, to(1, 3));
    configure(d.machine, 7, APLIC_SOURCE_EDGE1, to(1, 0));
    CHECK(d.machine.read32(APLIC_TARGET + 4 * 6) == to(1, 1));  // there is no priority 0
    d.machine.write32(APLIC_TARGET + 4 * 6, to(1, 3));
    auto& line = d.root.external_interrupt[1];
    const auto idc = APLIC_IDC_STRIDE;
    for (const unsigned s : {5u, 6u, 7u}) d.root.set_source(s, true);
    CHECK_FALSE(line.level());
    d.machine.write32(APLIC_IDELIVERY + idc, 1);
    CHECK(line.level());
    CHECK_FALSE(d.root.external_interrupt[0].level());
    CHECK(d.machine.read32(APLIC_TOPI + idc) == (6u << 16 | 3));
    d.machine.write32(APLIC_ITHRESHOLD + idc, 3);
    CHECK(d.machine.read32(APLIC_TOPI + idc) == 0);
    CHECK_FALSE(line.level());
    d.machine.write32(APLIC_ITHRESHOLD + idc, 0);
    CHECK(d.machine.read32(APLIC_CLAIMI + idc) == (6u << 16 | 3));
    CHECK(pending(d.machine, 6));  // as long as the line is high
    d.machine.write32(APLIC_CLRIPNUM, 6);
    CHECK(pending(d.machine, 6));
    d.root.set_source(6, false);
    CHECK(d.machine.read32(APLIC_CLAIMI + idc) == (7u << 16 | 3));
    CHECK(d.machine.read32(APLIC_CLAIMI + idc) == (5u << 16 | 4));
    CHECK_FALSE(line.level());
    d.machine.write32(APLIC_IFORCE + idc, 1);
    CHECK(line.level());
    CHECK(d.machine.read32(APLIC_CLAIMI + idc) == 0);  // spurious; the force ends
    CHECK_FALSE(line.level());
}
