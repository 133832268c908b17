// SPDX-License-Identifier: Apache-2.0
// Fuzzed WQEs of send and receive queues, doorbells and doorbell records. Their poster owns some regions;
// memory of others is full of one byte that stands nowhere else. It must never change, and never turn up where the
// attacker can read. A round is a doorbell, for an entry or several.
#include <algorithm>

#include "fuzz_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

constexpr std::uint64_t usual = 250'000;

class attack {
public:
    two_adapter_bench bench;
    random_source random;
    std::vector<driver::memory_region> own, foreign;
    std::vector<std::unique_ptr<test_qp>> qps_a, qps_b;
    std::vector<std::vector<std::uint8_t>> constant;  // own regions that may not be written

    attack() {
        auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
        for (auto* d : {&a, &b}) {
            own.push_back(d->region(9000, 1, driver::all_rights, 0x1000'0200));
            own.push_back(d->region(4096, 1, local_read | remote_read, 0x2000'0000));
            foreign.push_back(d->region(9000, 2, driver::all_rights, 0x1000'0200));  // of another domain
            foreign.push_back(
                d->region(4096, 1, local_read | local_write, 0x3000'0000));  // local, but not for the other side
        }
        std::memset(a.at(60 << 20), secret, 4 << 20);  // of no domain
        for (auto& d : {&a, &b})
            for (std::size_t i = 0; i < 2; ++i) {
                const auto& f = foreign[(d == &a ? 0 : 2) + i];
                for (std::uint64_t k = 0; k < f.bytes; ++k) *d->byte(f, f.address + k) = secret;
            }
        for (std::size_t i = 0; i < own.size(); ++i) fill_own(i);
        for (const std::size_t i : {1u, 3u})
            constant.push_back(read(i < 2 ? a : b, own[i], own[i].address, own[i].bytes));
        const unsigned kinds[] = {HCA_QP_RC, HCA_QP_RC, HCA_QP_UC, HCA_QP_UD};
        for (unsigned i = 0; i < 4; ++i) {
            test_qp::settings s;
            s.type = kinds[i];
            s.timeout = 1;
            s.retries = 1;
            s.rnr_retries = 1;
            qps_a.push_back(std::make_unique<test_qp>(a, 0x20 + 2 * i, 0x80, 0x80, 4 + 2 * i, s));
            qps_b.push_back(std::make_unique<test_qp>(b, 0x21 + 2 * i, 0x81, 0x81, 4 + 2 * i, s));
            join(i);
        }
        watch();
    }
    /// What the adapters may touch: nothing of other domains, nothing outside all domains, and of the rest what it is
    /// for.
    void watch() {
        auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
        auto& memory = host.memory;
        constexpr auto reads = host_memory::reads, writes = host_memory::writes;
        memory.watch();
        for (const bool first : {true, false}) {
            auto& d = first ? a : b;
            const std::size_t at = first ? 0 : 2;
            permit(d, own[at], reads | writes);
            permit(d, own[at + 1], reads);
            permit(d, foreign[at + 1], reads | writes);  // for lists of its own side
            permit(d, (first ? cq_a : cq_b)->memory, writes);
            for (const auto& r : d.event_memory) permit(d, r, writes);
            for (const auto& q : first ? qps_a : qps_b) permit(d, q->memory, reads);
            for (const auto& [icm, page] : d.context_pages()) memory.permit(page, 4096, reads);
            memory.permit(d.in_address(), HCA_MAILBOX_SIZE, reads);
            memory.permit(d.out_address(), HCA_MAILBOX_SIZE, writes);
        }
    }
    void fill_own(std::size_t i) {
        auto& d = i < 2 ? bench.a : bench.b;
        for (std::uint64_t k = 0; k < own[i].bytes; ++k)
            *d.byte(own[i], own[i].address + k) = static_cast<std::uint8_t>(random.any() % 0xc0);
    }
    void join(unsigned i) {
        qps_a[i]->connect(qps_b[i]->number, 2);
        qps_b[i]->connect(qps_a[i]->number, 1);
    }
    void restart(unsigned i) {
        test::restart(*qps_a[i]);
        test::restart(*qps_b[i]);
    }
    /// Completions are not checked here.
    void take_completions() {
        for (auto* q : {&*bench.cq_a, &*bench.cq_b}) {
            auto& d = q == &*bench.cq_a ? bench.a : bench.b;
            while (poll(d, *q, 0)) {
            }
        }
    }

    std::uint64_t below(std::uint64_t n) { return random.below(n); }
    /// Somewhere in a region, or just outside of it, or nowhere.
    std::uint64_t address() {
        const auto& r = below(3) ? own[below(own.size())] : foreign[below(foreign.size())];
        switch (below(6)) {
            case 0: return r.address + r.bytes - below(40);
            case 1: return r.address - below(20);
            case 2: return random.any();
            case 3: return (60 << 20) + below(4 << 20);
            default: return r.address + below(r.bytes);
        }
    }
    std::uint32_t key() {
        switch (below(8)) {
            case 0: return static_cast<std::uint32_t>(random.any());
            case 1: return foreign[below(foreign.size())].key;
            case 2: return own[below(own.size())].key ^ 1u << below(32);
            case 3: return qps_a[below(4)]->memory.key;
            default: return own[below(own.size())].key;
        }
    }
    std::uint32_t bytes() {
        switch (below(6)) {
            case 0: return 0;
            case 1: return static_cast<std::uint32_t>(random.any());
            case 2: return static_cast<std::uint32_t>(below(9000));
            default: return static_cast<std::uint32_t>(below(200));
        }
    }
    /// A wrong or right entry of a queue.
    void write_wqe(test_qp& q, std::uint64_t at, bool send) {
        auto* w = q.d.byte(q.memory, at);
        const auto stride = 1u << q.log_stride;
        if (below(10) == 0) {
            for (unsigned i = 0; i < stride; ++i) w[i] = static_cast<std::uint8_t>(random.any() % 0xc0);
            return;
        }
        std::memset(w, 0, stride);
        hca_set(w, HCA_NEXT_OPCODE, static_cast<std::uint32_t>(opcode()));
        hca_set(w, HCA_NEXT_SIZE, static_cast<std::uint32_t>(below(stride / 16 + 2)));
        hca_set(w, HCA_NEXT_FENCE, below(4) == 0);
        hca_put32(w + 8, static_cast<std::uint32_t>(random.any()));
        for (unsigned s = 1; s < stride / 16; ++s) {
            auto* p = w + 16 * s;
            switch (below(send ? 4 : 2)) {
                case 0:
                case 1: test_qp::write_element(p, {address(), key(), bytes()}); break;
                case 2:  // a remote address, or what stands in its place
                    hca_set_long(p, 0, address());
                    hca_set(p, HCA_REMOTE_KEY, key());
                    break;
                default: hca_put32(p, 1u << 31 | static_cast<std::uint32_t>(below(1100))); break;
            }
        }
    }
    std::uint64_t opcode() {
        constexpr unsigned known[] = {HCA_OP_WRITE, HCA_OP_WRITE_IMMEDIATE, HCA_OP_SEND,      HCA_OP_SEND_IMMEDIATE,
                                      HCA_OP_READ,  HCA_OP_COMPARE_SWAP,    HCA_OP_FETCH_ADD, HCA_OP_NOP};
        return below(12) ? known[below(8)] : below(32);
    }
    void step() {
        const auto i = static_cast<unsigned>(below(4));
        auto& q = below(4) ? *qps_a[i] : *qps_b[i];
        auto& other = &q == qps_a[i].get() ? *qps_b[i] : *qps_a[i];
        const auto count = static_cast<unsigned>(below(3) + 1);
        for (unsigned k = 0; k < count; ++k) write_wqe(q, q.slot(static_cast<std::uint16_t>(q.posted + k)), true);
        if (below(2)) {
            write_wqe(other, std::uint64_t{other.received & 15u} << other.log_stride, false);
            ++other.received;
            hca_put32(other.d.record(test_qp::uar, other.record + 1), other.received);
        }
        if (below(200) == 0)
            hca_put32(q.d.record(test_qp::uar, q.record + 1), static_cast<std::uint32_t>(random.any()));
        const auto uar = below(20) ? test_qp::uar : static_cast<std::uint32_t>(below(300) % 256);
        const auto index = below(20) ? q.posted : static_cast<std::uint16_t>(random.any());
        const auto number = below(20) ? q.number : static_cast<std::uint32_t>(random.any() & 0xff'ffff);
        q.d.doorbell(uar, below(30) ? HCA_UAR_SEND : HCA_UAR_CQ,
                     (below(30) ? count : static_cast<std::uint32_t>(below(256))) << 24 | std::uint32_t{index} << 8 |
                         (below(4) ? 0u : 0x20u) | static_cast<std::uint32_t>(opcode()),
                     number << 8 | static_cast<std::uint32_t>(below(10)));
        q.d.run(3'000'000);
        q.posted = host_posted(q);
        take_completions();
        if (below(3) == 0) restart(i);
    }
    /// What the adapter took: some doorbells are dropped.
    std::uint16_t host_posted(const test_qp& q) {
        auto* p = q.d.hca.queue_pairs.find(q.number);
        return p ? p->send.posted : std::uint16_t{0};
    }

    void check() {
        INFO(bench.host.memory.first_access_violation);
        REQUIRE(bench.host.memory.access_violations == 0);
        for (const std::size_t i : {1u, 3u})  // may be read, by both sides
            REQUIRE(read(i < 2 ? bench.a : bench.b, own[i], own[i].address, own[i].bytes) == constant[i / 2]);
        for (std::size_t i = 0; i < foreign.size(); ++i) {
            auto& d = i < 2 ? bench.a : bench.b;
            const auto bytes_now = read(d, foreign[i], foreign[i].address, foreign[i].bytes);
            // The attacker may use what is local to it in its own lists, but the other side must not write these.
            if (i % 2 == 0)
                REQUIRE(std::all_of(bytes_now.begin(), bytes_now.end(), [](std::uint8_t b) { return b == secret; }));
        }
        const auto* unowned = bench.a.at(60 << 20);
        REQUIRE(std::all_of(unowned, unowned + (4 << 20), [](std::uint8_t b) { return b == secret; }));
    }
    bool leaked() {
        for (std::size_t i = 0; i < own.size(); ++i) {
            const auto bytes_now = read(i < 2 ? bench.a : bench.b, own[i], own[i].address, own[i].bytes);
            if (shows_secret(bytes_now.data(), bytes_now.size())) return true;
        }
        return false;
    }
};

}  // namespace

TEST_CASE("invalid queues and doorbells") {
    calendar timeline;
    attack t;
    // What the attacker may read and write by right is no secret: the local regions of its own domain.
    for (const std::size_t i : {1u, 3u}) {
        auto& d = i < 2 ? t.bench.a : t.bench.b;
        for (std::uint64_t k = 0; k < t.foreign[i].bytes; ++k) *d.byte(t.foreign[i], t.foreign[i].address + k) = 0x11;
    }
    const auto rounds = environment_or("HCA_FUZZ", usual);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        t.step();
        if (i % 1000 == 999) t.check();
    }
    t.check();
    CHECK(!t.leaked());
    auto& a = *t.bench.host.adapters[0];
    CHECK(a.requester.errors.total() > rounds / 100);
    CHECK(a.requester.messages.total() > rounds / 100);
    CHECK(a.bad_doorbells.total() > rounds / 100);
    // The adapter still does what it shall.
    t.restart(0);
    send_request w;
    w.opcode = HCA_OP_WRITE;
    t.take_completions();
    w.list = {{t.own[0].address, t.own[0].key, 4000}};
    w.remote = t.own[2].address + 17;
    w.rkey = t.own[2].key;
    t.qps_a[0]->post(w);
    CHECK(t.bench.good_a().opcode == HCA_OP_WRITE);
    CHECK(read(t.bench.b, t.own[2], w.remote, 4000) == read(t.bench.a, t.own[0], t.own[0].address, 4000));
}
