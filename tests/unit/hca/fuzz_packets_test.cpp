// SPDX-License-Identifier: Apache-2.0
// Fuzzed packets: their sender has queue pairs of every kind to send to and knows all numbers and keys.
// Requests, unsolicited responses, datagrams; headers that contradict each other; packets as bytes with some of
// them wrong. Whatever comes, the adapter reads and writes what the keys of its own domain allow, and no other byte;
// nothing of another domain's goes out.
#include "fuzz_bench.h"
#include "network/wire.h"
#include "unit/network/network_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;
using network::operation;
using network::transport;

namespace {

constexpr std::uint32_t their_qpn = 0x123;
constexpr std::uint64_t usual = 400'000;

class attack {
public:
    computer host{"host", 1};
    driver a{host, 0, 1 << 20, 48 << 20};
    fabricvp::test::adapter attacker{"attacker"};
    random_source random;
    std::optional<completion_queue> cq;
    driver::memory_region open, readable, received, foreign;
    std::vector<std::uint8_t> constant;
    std::vector<std::unique_ptr<test_qp>> qps;
    std::optional<test_qp> inner, outer;  // of another domain, connected to each other
    std::uint64_t replies = 0, leaks = 0, accepted = 0;

    attack() {
        network::connect(host.adapters[0]->network.link, attacker.link);
        host.adapters[0]->network.link.configure(1);
        attacker.link.configure(2);
        a.start();
        a.create_eq(1, 4, HCA_INTERRUPT_MESSAGE);
        REQUIRE(a.command(HCA_INIT_IB, 1) == HCA_OK);
        cq = create_cq(a, 0x80, 8, 1, 0);
        open = a.region(9000, 1, driver::all_rights, 0x1000'0200);
        readable = a.region(5000, 1, local_read | remote_read, 0x2000'0800);
        received = a.region(9000, 1, local_write, 0x3000'0100);
        foreign = a.region(9000, 2, driver::all_rights, 0x4000'0000);
        for (const auto* r : {&open, &readable})
            for_pages(*r, [&](std::uint64_t at, std::uint64_t bytes) { random.fill(a.at(at), bytes); });
        for_pages(foreign, [&](std::uint64_t at, std::uint64_t bytes) { std::memset(a.at(at), secret, bytes); });
        constant = read(a, readable, readable.address, readable.bytes);
        const unsigned kinds[] = {HCA_QP_RC, HCA_QP_RC, HCA_QP_RC, HCA_QP_RC,
                                  HCA_QP_UC, HCA_QP_UC, HCA_QP_UD, HCA_QP_RC};
        for (unsigned i = 0; i < std::size(kinds); ++i) {
            test_qp::settings s;
            s.type = kinds[i];
            s.timeout = 1;
            s.retries = s.rnr_retries = 1;
            s.mtu = 1 + i % 5;
            s.remote_write = s.remote_read = s.remote_atomic = i != 7;
            qps.push_back(std::make_unique<test_qp>(a, 0x20 + i, 0x80, 0x80, 4 + 2 * i, s));
            qps.back()->connect(their_qpn, 2);
        }
        test_qp::settings other;
        other.domain = 2;
        inner.emplace(a, 0x30, 0x80, 0x80, 40, other);
        outer.emplace(a, 0x31, 0x80, 0x80, 42, other);
        inner->connect(0x31, 1);
        outer->connect(0x30, 1);

        auto& memory = host.memory;
        memory.watch();
        permit(a, open, host_memory::reads | host_memory::writes);
        permit(a, foreign, host_memory::reads | host_memory::writes);  // for its owner: see below
        permit(a, readable, host_memory::reads);
        permit(a, received, host_memory::writes);
        for (const auto& q : qps) permit(a, q->memory, host_memory::reads);
        for (const auto* q : {&*inner, &*outer}) permit(a, q->memory, host_memory::reads);
        permit(a, cq->memory, host_memory::writes);
        for (const auto& r : a.event_memory) permit(a, r, host_memory::writes);
        for (const auto& [icm, page] : a.context_pages()) memory.permit(page, 4096, host_memory::reads);
    }

    queue_pair& state_of(const test_qp& q) { return *a.hca.queue_pairs.find(q.number); }

    std::uint64_t address() {
        const auto& r = random.once_in(6)   ? foreign
                        : random.once_in(3) ? readable
                        : random.once_in(6) ? received
                                            : open;
        switch (random.below(8)) {
            case 0: return r.address + r.bytes - random.below(40);
            case 1: return r.address - random.below(20);
            case 2: return random.any();
            case 3: return (r.address + random.below(r.bytes)) & ~std::uint64_t{7};
            default: return r.address + random.below(r.bytes);
        }
    }
    std::uint32_t key() {
        switch (random.below(8)) {
            case 0: return random.word();
            case 1: return foreign.key;
            case 2: return open.key ^ 1u << random.below(32);
            case 3: return received.key;
            case 4: return readable.key;
            case 5: return random.of(qps)->memory.key;
            default: return open.key;
        }
    }
    std::uint32_t length(std::uint32_t mtu) {
        switch (random.below(6)) {
            case 0: return 0;
            case 1: return mtu;
            case 2: return mtu + 1;
            case 3: return random.word();
            case 4: return static_cast<std::uint32_t>(random.below(3 * mtu));
            default: return static_cast<std::uint32_t>(random.below(100));
        }
    }

    network::packet_ptr fuzzed_packet(test_qp& to) {
        const auto& q = state_of(to);
        const auto mtu = q.attributes.mtu;
        auto p = network::make_packet();
        p->lrh.dlid = 1;
        p->lrh.slid = random.once_in(30) ? static_cast<std::uint16_t>(random.any()) : std::uint16_t{2};
        p->lrh.sl = static_cast<std::uint8_t>(random.below(16));
        p->lrh.global = random.once_in(10);
        p->bth.destination_qp = random.once_in(50) ? random.word() & 0xff'ffff : to.number;
        p->bth.pkey = random.once_in(50) ? static_cast<std::uint16_t>(random.any()) : std::uint16_t{0xffff};
        p->bth.solicited = random.once_in(2);
        p->bth.ack_request = random.once_in(2);
        const auto t = random.once_in(40)     ? static_cast<transport>(random.below(8))
                       : to.type == HCA_QP_RC ? transport::rc
                       : to.type == HCA_QP_UC ? transport::uc
                                              : transport::ud;
        auto op = static_cast<operation>(random.below(32));
        if (t == transport::ud && !random.once_in(10))
            op = random.once_in(2) ? operation::send_only : operation::send_only_immediate;
        if (to.type == HCA_QP_RC && random.once_in(12))
            op = random.once_in(2) ? operation::compare_swap : operation::fetch_add;
        if (to.type != HCA_QP_UD && random.once_in(3)) {  // one that may come now
            const bool write = q.responder.in_write;
            if (q.responder.in_message)
                op = random.once_in(2) ? (write ? operation::write_last : operation::send_last)
                     : write           ? operation::write_middle
                                       : operation::send_middle;
            else
                op = random.once_in(2) ? operation::write_only : operation::write_first;
        }
        p->bth.opcode = network::opcode_of(t, op);
        const bool is_response = op >= operation::read_response_first && op <= operation::atomic_acknowledge;
        const auto near =
            is_response
                ? (q.send.wqes.empty() ? q.send.next_psn : q.send.wqes.front().first_psn + q.send.wqes.front().received)
                : q.responder.expected_psn;
        p->bth.psn = (random.once_in(4)    ? near + static_cast<std::uint32_t>(random.below(7)) - 3
                      : random.once_in(20) ? random.word()
                                           : near) &
                     network::psn_mask;
        p->deth = {random.once_in(5) ? random.word() : to.s.qkey, random.word() & 0xff'ffff};
        auto bytes = length(mtu);
        p->reth = {address(), key(), bytes};
        if (op == operation::write_only && !random.once_in(5))
            p->reth.length = bytes = static_cast<std::uint32_t>(random.below(mtu + 1));
        if (op == operation::read_request && !random.once_in(5))
            p->reth.length = static_cast<std::uint32_t>(random.below(4 * mtu));
        if (op == operation::write_last && !random.once_in(4)) bytes = q.responder.left;
        if (op == operation::write_first || op == operation::write_middle || op == operation::send_first ||
            op == operation::send_middle)
            if (!random.once_in(6)) bytes = mtu;
        if (op == operation::write_first && !random.once_in(4))
            p->reth.length = mtu + static_cast<std::uint32_t>(random.below(2 * mtu));
        if (is_response && !q.send.wqes.empty() && !random.once_in(3))
            bytes = std::min<std::uint32_t>(
                mtu,
                q.send.wqes.front().length - std::min(q.send.wqes.front().length, q.send.wqes.front().received * mtu));
        p->atomic = {address() & (random.once_in(4) ? ~std::uint64_t{0} : ~std::uint64_t{7}), key(), random.any(),
                     random.any()};
        p->aeth = {static_cast<std::uint8_t>(random.once_in(3) ? random.any() : 0x1f), random.word() & 0xff'ffff};
        p->immediate = random.word();
        p->invalidated_rkey = key();
        if (p->extensions() & network::has_payload && bytes) {
            p->payload = allocate_slice(std::min<std::uint32_t>(bytes, 4096));
            random.fill(p->payload.data(), p->payload.length);
        }
        if (random.once_in(100))
            p->corrupted = random.once_in(2) ? network::corruption::link : network::corruption::payload;
        return p;
    }
    /// The same as bytes, some of them wrong, read again as a port that gets them would.
    network::packet_ptr mangled(const network::packet& p) {
        auto copy = network::copy_packet(p);
        copy->measure();
        auto bytes = network::encode(*copy);
        for (auto n = random.below(4) + 1; n; --n) random.of(bytes) ^= static_cast<std::uint8_t>(1u << random.below(8));
        if (random.once_in(6)) bytes.resize(random.below(bytes.size() + 1));
        if (random.once_in(6)) bytes.resize(bytes.size() + random.below(40), 0x55);
        auto again = network::make_packet();
        if (network::decode(bytes.data(), bytes.size(), *again)) return nullptr;
        return again;
    }

    /// What software of this side does meanwhile.
    void work(test_qp& q) {
        if (random.once_in(2)) {
            auto list = std::vector<element>{
                {received.address + random.below(4000), received.key, static_cast<std::uint32_t>(random.below(5000))}};
            if (random.once_in(20)) list = {{received.address + 8990, received.key, 100}};
            q.post_receive(list);
        }
        const auto& s = state_of(q).send;
        if (q.type == HCA_QP_RC && static_cast<std::uint16_t>(s.posted - s.completed) < 12 && random.once_in(3)) {
            send_request r;
            const unsigned kinds[] = {HCA_OP_READ, HCA_OP_WRITE, HCA_OP_FETCH_ADD, HCA_OP_SEND};
            r.opcode = random.of(kinds);
            const auto bytes = r.opcode == HCA_OP_FETCH_ADD ? 8u : static_cast<std::uint32_t>(random.below(4000));
            r.list = {{open.address + random.below(4000), open.key, bytes}};
            q.posted = s.posted;
            q.post(r);
        }
    }
    /// The other domain moves its secrets, so that they have been in every buffer.
    void move_secrets() {
        send_request w;
        w.opcode = HCA_OP_WRITE;
        w.signalled = false;
        w.list = {{foreign.address + 10, foreign.key, 4096}};
        w.remote = foreign.address + 4500;
        w.rkey = foreign.key;
        inner->post(w);
    }

    void check_replies() {
        for (const auto& h : attacker.received) {
            ++replies;
            if (const auto& payload = h.packet->payload; payload) leaks += shows_secret(payload.data(), payload.length);
        }
        attacker.received.clear();
    }
    void step(std::uint64_t round) {
        auto& q = *random.of(qps);
        if (state_of(q).attributes.state != HCA_QP_RTS && !random.once_in(4)) restart(q);
        work(q);
        for (auto n = random.below(3) + 1; n; --n) {
            auto p = fuzzed_packet(q);
            if (random.once_in(10)) p = mangled(*p);
            if (p) attacker.send(p);
        }
        if (round % 64 == 0) move_secrets();
        a.run(random.once_in(8) ? 3'000'000 : 400'000);
        while (poll(a, *cq, 0)) {
        }
        check_replies();
    }
    void check() {
        INFO(host.memory.first_access_violation);
        REQUIRE(host.memory.access_violations == 0);
        REQUIRE(leaks == 0);
        REQUIRE(read(a, readable, readable.address, readable.bytes) == constant);
        const auto bytes_now = read(a, foreign, foreign.address, foreign.bytes);
        REQUIRE(std::all_of(bytes_now.begin(), bytes_now.end(), [](std::uint8_t b) { return b == secret; }));
    }
};

}  // namespace

TEST_CASE("invalid packets") {
    calendar timeline;
    attack t;
    const auto rounds = environment_or("HCA_FUZZ", usual);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        t.step(i);
        if (i % 10'000 == 9'999) t.check();
    }
    t.a.run(1'000'000'000);
    t.check_replies();
    t.check();
    // It has not only refused.
    auto& hca = t.a.hca;
    CHECK(hca.responder.received.total() > rounds / 10);
    CHECK(hca.responder.naks.total() > rounds / 100);
    CHECK(hca.responder.atomics.total() > rounds / 1000);
    CHECK(hca.responder.duplicates.total() > rounds / 100);
    CHECK(hca.requester.messages.total() > rounds / 1000);
    CHECK(hca.dropped.total() > rounds / 100);
    CHECK(hca.translation.violations.total() > rounds / 100);
    CHECK(t.replies > rounds / 10);
    // Every buffer of the port is free again: as much as it holds gets across at once, and is placed.
    auto& q = *t.qps[0];
    restart(q);
    for (unsigned i = 0; i < 200; ++i) {
        auto p = network::make_packet();
        p->lrh.dlid = 1;
        p->lrh.slid = 2;
        p->bth.opcode = network::opcode_of(transport::rc, operation::write_only);
        p->bth.destination_qp = q.number;
        p->bth.psn = (q.s.psn + i) & network::psn_mask;
        p->reth = {t.open.address + 256 * (i % 16), t.open.key, 256};
        p->payload = allocate_slice(256);
        std::memset(p->payload.data(), static_cast<int>(i), 256);
        t.attacker.send(p);
    }
    t.a.run(1'000'000'000);
    CHECK(t.attacker.unsent.empty());
    for (unsigned i = 184; i < 200; ++i) CHECK(*t.a.byte(t.open, t.open.address + 256 * (i % 16) + 255) == i);
}
