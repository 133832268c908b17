// SPDX-License-Identifier: Apache-2.0
// Event queues, interrupts, the port and its management agent, reset.
#include "abi/hca_mad.h"
#include "hca_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using test::driver;

TEST_CASE("events, interrupts and the port of an HCA") {
    calendar timeline;
    test::computer host("host", 2);
    network::connect(host.adapters[0]->network.link, host.adapters[1]->network.link);
    for (auto& adapter : host.adapters) adapter->network.link.configure(1);
    driver d(host, 0, 1 << 20, 48 << 20);
    auto& hca = *host.adapters[0];
    d.start();
    // MSI-X: vector 1.
    hca.config.space.set(hca.config.space.find_capability(pcie::msi_x_id) + 2, 2, 0);
    hca.config.space.write(hca.config.space.find_capability(pcie::msi_x_id) + 2, 2, 0x8000);
    const auto entry = [&](unsigned word, std::uint32_t value) {
        d.write32(HCA_MSIX_TABLE + 16 + 4 * word, __builtin_bswap32(value));
    };
    entry(0, test::host_memory::messages);
    entry(1, 0);
    entry(2, 0x55);
    entry(3, 0);
    auto q = d.create_eq(3, 3, HCA_INTERRUPT_MESSAGE + 1);
    CHECK(d.command(HCA_MAP_EQ, 4, 0, 0x200, 0).status == HCA_BAD_INDEX);
    CHECK(d.command(HCA_MAP_EQ, 3, 0, 0x200, 0).status == HCA_OK);

    // --- the port comes up: an event and an interrupt ---
    CHECK(d.command(HCA_INIT_IB, 1) == HCA_OK);
    d.run();
    auto* e = d.poll(q);
    REQUIRE(e);
    CHECK(hca_get(e, HCA_EQE_TYPE) == HCA_EVENT_PORT);
    CHECK(hca_get(e, HCA_EQE_SUBTYPE) == HCA_PORT_ACTIVE);
    CHECK(d.poll(q) == nullptr);
    CHECK(host.memory.interrupts == std::vector<std::uint32_t>{0x55});
    // --- it has fired: silent until it is armed, then at once, since events are there ---
    CHECK(d.command(HCA_CLOSE_IB, 1) == HCA_OK);
    d.run();
    CHECK(host.memory.interrupts.size() == 1);
    d.consumed(q);
    d.arm(q);
    d.run();
    CHECK(host.memory.interrupts.size() == 2);
    REQUIRE(d.poll(q));
    d.consumed(q);
    d.arm(q);
    d.run();
    CHECK(host.memory.interrupts.size() == 2);
    // --- an event queue that is not read fills up, and stays as it is ---
    for (unsigned i = 0; i < 12; ++i) CHECK(d.command(i % 2 ? HCA_CLOSE_IB : HCA_INIT_IB, 1) == HCA_OK);
    d.run();
    for (unsigned i = 0; i < 8; ++i) CHECK(d.poll(q));
    CHECK(d.poll(q) == nullptr);
    CHECK(hca.event_queues.dropped.total() >= 4);

    // --- management datagrams ---
    const auto get = [&](unsigned attribute, std::uint32_t modifier) {
        auto* m = d.in();
        hca_set(m, HCA_MAD_BASE_VERSION, 1);
        hca_set(m, HCA_MAD_CLASS, HCA_MAD_SUBNET);
        hca_set(m, HCA_MAD_CLASS_VERSION, 1);
        hca_set(m, HCA_MAD_METHOD, HCA_MAD_GET);
        hca_set(m, HCA_MAD_ATTRIBUTE, attribute);
        hca_set(m, HCA_MAD_MODIFIER, modifier);
        CHECK(d.command(HCA_MAD_IFC, 1, 3) == HCA_OK);
        CHECK(hca_get(d.out(), HCA_MAD_METHOD) == HCA_MAD_GET_RESPONSE);
        return hca_get(d.out(), HCA_MAD_STATUS);
    };
    auto* data = d.out() + HCA_MAD_DATA;
    CHECK(get(HCA_MAD_NODE_INFO, 0) == 0);
    CHECK(hca_get(data, HCA_NODE_DEVICE) == HCA_DEVICE);
    CHECK(hca_get_long(data, HCA_NODE_PORT_GUID) == hca_get_long(data, HCA_NODE_GUID) + 1);
    CHECK(get(HCA_MAD_PORT_INFO, 1) == 0);
    CHECK(hca_get(data, HCA_PORT_STATE) == 1);
    CHECK(d.command(HCA_INIT_IB, 1) == HCA_OK);
    CHECK(get(HCA_MAD_PORT_INFO, 1) == 0);
    CHECK(hca_get(data, HCA_PORT_STATE) == 4);
    CHECK(hca_get(data, HCA_PORT_LID) != 0);
    CHECK(get(HCA_MAD_PKEY_TABLE, 0) == 0);
    CHECK(hca_get32(data) == 0xffff'0000);
    CHECK(get(HCA_MAD_PKEY_TABLE, 1) == HCA_MAD_BAD_FIELD);
    CHECK(get(0x99, 0) == HCA_MAD_BAD_ATTRIBUTE);

    // --- reset clears everything ---
    d.write32(HCA_RESET, HCA_RESET_NOW);
    d.run();
    CHECK(d.command(HCA_MAD_IFC, 1, 3) == HCA_BAD_SYSTEM_STATE);
    CHECK(hca.icm.pages() == 0);
}
