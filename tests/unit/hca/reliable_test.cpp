// SPDX-License-Identifier: Apache-2.0
// Every verb of reliable connections between two HCAs on a cable, each byte checked.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

TEST_CASE("verbs of a reliable connection") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    bench.connect();
    std::mt19937 random(7);
    const auto ra = a.region(70'000, 1, driver::all_rights, 0x10'0123),
               rb = b.region(70'000, 1, driver::all_rights, 0x7f00'0000'0777);
    fill(a, ra, random);
    fill(b, rb, random);

    // --- writes of all sizes, by several elements; nothing beside them changes ---
    for (const std::uint32_t bytes : {0u, 1u, 7u, 64u, 2047u, 2048u, 2049u, 4096u, 10'000u, 65'000u}) {
        auto expected = read(b, rb, rb.address, rb.bytes);
        const auto source = read(a, ra, ra.address + 100, bytes);
        send_request w;
        w.opcode = HCA_OP_WRITE;
        const auto cut = bytes / 3;
        w.list = {{ra.address + 100, ra.key, cut}, {ra.address + 100 + cut, ra.key, bytes - cut}};
        w.remote = rb.address + 333;
        w.rkey = rb.key;
        qa->post(w);
        const auto c = bench.good_a();
        CHECK(c.opcode == HCA_OP_WRITE);
        CHECK(c.qpn == qa->number);
        CHECK(c.wqe == qa->slot(static_cast<std::uint16_t>(qa->posted - 1)));
        std::copy(source.begin(), source.end(), expected.begin() + 333);
        CHECK(read(b, rb, rb.address, rb.bytes) == expected);
    }
    CHECK(!poll(b, *cq_b, 0));

    // --- reads ---
    for (const std::uint32_t bytes : {0u, 1u, 2048u, 2049u, 30'001u}) {
        auto expected = read(a, ra, ra.address, ra.bytes);
        const auto source = read(b, rb, rb.address + 5, bytes);
        send_request r;
        r.opcode = HCA_OP_READ;
        r.list = {{ra.address + 11, ra.key, bytes / 2}, {ra.address + 11 + bytes / 2, ra.key, bytes - bytes / 2}};
        r.remote = rb.address + 5;
        r.rkey = rb.key;
        qa->post(r);
        CHECK(bench.good_a().bytes == bytes);
        std::copy(source.begin(), source.end(), expected.begin() + 11);
        CHECK(read(a, ra, ra.address, ra.bytes) == expected);
    }

    // --- sends, with immediate data, inline; the receiver's list is scattered over ---
    for (const std::uint32_t bytes : {0u, 1u, 2048u, 5000u}) {
        auto expected = read(b, rb, rb.address, rb.bytes);
        qb->post_receive({{rb.address + 1, rb.key, 1000}, {rb.address + 2000, rb.key, 5000}});
        const auto source = read(a, ra, ra.address, bytes);
        send_request s;
        s.opcode = HCA_OP_SEND_IMMEDIATE;
        s.immediate = 0xdead'0000 + bytes;
        s.list = {{ra.address, ra.key, bytes}};
        qa->post(s);
        const auto c = bench.good_b();
        CHECK(c.bytes == bytes);
        CHECK(c.immediate == 0xdead'0000 + bytes);
        CHECK(!c.is_send);
        CHECK(c.qpn == qb->number);
        CHECK(bench.good_a().opcode == HCA_OP_SEND_IMMEDIATE);
        const auto first = std::min<std::size_t>(bytes, 1000);
        std::copy_n(source.begin(), first, expected.begin() + 1);
        std::copy(source.begin() + static_cast<std::ptrdiff_t>(first), source.end(), expected.begin() + 2000);
        CHECK(read(b, rb, rb.address, rb.bytes) == expected);
    }
    // --- a write with immediate data takes an entry; the list of it stays as it is ---
    qb->post_receive({});
    send_request wi;
    wi.opcode = HCA_OP_WRITE_IMMEDIATE;
    wi.immediate = 0x1234'5678;
    wi.list = {{ra.address, ra.key, 3000}};
    wi.remote = rb.address;
    wi.rkey = rb.key;
    qa->post(wi);
    auto c = bench.good_b();
    CHECK(c.immediate == 0x1234'5678);
    CHECK(c.bytes == 3000);
    CHECK((c.opcode & 0x1f) == 0x09);
    bench.good_a();
    CHECK(read(b, rb, rb.address, 3000) == read(a, ra, ra.address, 3000));

    // --- 15 entries a doorbell, one of them signalled, inline ---
    const auto text = a.allocate(64);
    std::vector<send_request> burst;
    for (unsigned i = 0; i < 15; ++i) {
        *a.at(text + i) = static_cast<std::uint8_t>(100 + i);
        send_request w;
        w.opcode = HCA_OP_WRITE;
        w.inlined = true;
        w.list = {{text + i, 0, 1}};
        w.remote = rb.address + 40 + 2 * i;
        w.rkey = rb.key;
        w.signalled = i == 14;
        burst.push_back(w);
    }
    auto expected = read(b, rb, rb.address, rb.bytes);
    for (unsigned i = 0; i < 15; ++i) expected[40 + 2 * i] = static_cast<std::uint8_t>(100 + i);
    const auto acks = host.adapters[1]->responder.acknowledgements.total();
    const auto time_of = [&](const std::vector<send_request>& list) {
        const auto begin = timeline.now();
        qa->post(list);
        while (!poll(a, *cq_a, 0)) a.run(1'000);
        return timeline.now() - begin;
    };
    const auto alone = time_of({burst.back()}), together = time_of(burst);
    // The latency of the requester is that of a pipeline: packets that leave at once are an interval apart.
    CHECK(together - alone > 14 * host.adapters[0]->requester.params.packet_interval);
    CHECK(together - alone < 14 * host.adapters[0]->requester.params.latency);
    CHECK(!bench.wait(a, *cq_a, 5'000'000));
    CHECK(read(b, rb, rb.address, rb.bytes) == expected);
    CHECK(host.adapters[1]->responder.acknowledgements.total() == acks + 2);

    // --- atomics, with operands that differ in every byte ---
    const auto word = rb.address + (8 - rb.address % 8) % 8 + 64;
    const auto at_b = [&] {
        std::uint64_t v = 0;
        for (unsigned i = 0; i < 8; ++i) reinterpret_cast<std::uint8_t*>(&v)[i] = *b.byte(rb, word + i);
        return v;
    };
    const auto at_a = [&](std::uint64_t address) {
        std::uint64_t v = 0;
        for (unsigned i = 0; i < 8; ++i) reinterpret_cast<std::uint8_t*>(&v)[i] = *a.byte(ra, address + i);
        return v;
    };
    const std::uint64_t start = 0x0102'0304'0506'0708;
    for (unsigned i = 0; i < 8; ++i) *b.byte(rb, word + i) = reinterpret_cast<const std::uint8_t*>(&start)[i];
    send_request at;
    at.opcode = HCA_OP_FETCH_ADD;
    at.list = {{ra.address + 800, ra.key, 8}};
    at.remote = word;
    at.rkey = rb.key;
    at.swap_add = 0x1000'0000'0000'0001;
    qa->post(at);
    CHECK(bench.good_a().bytes == 8);
    CHECK(at_a(ra.address + 800) == start);
    CHECK(at_b() == start + 0x1000'0000'0000'0001);
    at.opcode = HCA_OP_COMPARE_SWAP;
    at.compare = start;  // is not there
    at.swap_add = 0xa1a2'a3a4'a5a6'a7a8;
    qa->post(at);
    bench.good_a();
    CHECK(at_a(ra.address + 800) == start + 0x1000'0000'0000'0001);
    CHECK(at_b() == start + 0x1000'0000'0000'0001);
    at.compare = at_b();
    qa->post(at);
    bench.good_a();
    CHECK(at_b() == 0xa1a2'a3a4'a5a6'a7a8);

    // --- receiver not ready: waits until an entry is there ---
    send_request late;
    late.list = {{ra.address, ra.key, 10}};
    qa->post(late);
    a.run(50'000'000);
    CHECK(!poll(a, *cq_a, 0));
    CHECK(host.adapters[0]->requester.not_ready.total() > 0);
    qb->post_receive({{rb.address, rb.key, 10}});
    bench.good_b();
    bench.good_a();

    // --- completions come in the order of the entries, though the first one waits for its translation and others join
    // it ---
    const auto taken_away = a.region(64);
    CHECK(a.command(HCA_HW2SW_MPT, taken_away.key >> 8, 1) == HCA_OK);  // the adapter clears what it has cached
    const auto misses = host.adapters[0]->translation.mtt_misses.total();
    send_request write;
    write.opcode = HCA_OP_WRITE;
    write.list = {{ra.address, ra.key, 8}};
    write.remote = rb.address;
    write.rkey = rb.key;
    const auto first = qa->posted;
    qa->post(std::vector<send_request>(8, write));
    for (unsigned i = 0; i < 8; ++i) CHECK(bench.good_a().wqe == qa->slot(static_cast<std::uint16_t>(first + i)));
    CHECK(host.adapters[0]->translation.mtt_misses.total() >= misses + 3);  // entries, payload, completions

    for (auto& adapter : host.adapters) CHECK(adapter->requester.errors.total() == 0);
}
