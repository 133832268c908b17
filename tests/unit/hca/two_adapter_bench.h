// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <random>

#include "verbs_bench.h"

namespace fabricvp::hca::test {

/// Two adapters of one computer, a queue pair on each.
struct two_adapter_bench {
    computer host;
    driver a{host, 0, 1 << 20, 30 << 20}, b{host, 1, 30 << 20, 60 << 20};
    std::optional<completion_queue> cq_a, cq_b;
    std::optional<test_qp> qa, qb;

    using join = std::function<void(network::port&, network::port&)>;
    static void cable(network::port& a, network::port& b) {
        network::connect(a, b);
        a.configure(1);
        b.configure(2);
    }
    /// \param lay the network between the two ports
    explicit two_adapter_bench(const hca_params& p = {}, const join& connect_ports = cable) : host("host", 2, p) {
        connect_ports(host.adapters[0]->network.link, host.adapters[1]->network.link);
        for (auto* d : {&a, &b}) {
            d->start();
            d->create_eq(1, 4, HCA_INTERRUPT_MESSAGE);
            REQUIRE(d->command(HCA_INIT_IB, 1) == HCA_OK);
        }
        cq_a = create_cq(a, 0x80, 6, 1, 0);
        cq_b = create_cq(b, 0x81, 6, 1, 0);
    }
    /// \param of_b settings of the second one's queue pair, if they are others
    void connect(const test_qp::settings& s = {}, std::uint32_t number = 0x20,
                 const test_qp::settings* of_b = nullptr) {
        qa.emplace(a, number, 0x80, 0x80, 4 + 2 * (number & 0x1f), s);
        qb.emplace(b, number + 1, 0x81, 0x81, 4 + 2 * (number & 0x1f), of_b ? *of_b : s);
        qa->connect(number + 1, 2);
        qb->connect(number, 1);
    }
    std::optional<completion> wait(driver& d, completion_queue& q, ticks max_time = 100'000'000) {
        for (ticks t = 0; t < max_time; t += 1'000'000) {
            if (auto c = poll(d, q, 0)) return c;
            d.run(1'000'000);
        }
        return std::nullopt;
    }
    completion good_a() { return good(a, *cq_a); }
    completion good_b() { return good(b, *cq_b); }
    completion good(driver& d, completion_queue& q) {
        const auto c = wait(d, q);
        REQUIRE(c);
        INFO("opcode " << c->opcode << ", syndrome " << c->syndrome);
        REQUIRE(!c->error());
        return *c;
    }
};

/// Sets the one argument `rate` of a fault.
class rate_setter final : public parameter_visitor {
public:
    explicit rate_setter(const char* value) : m_value(value) {}

private:
    void visit(parameter& p) override {
        if (std::string(p.name) == "rate") p.parse(m_value);
    }
    bool enter(const char*, const char*) override { return false; }
    void leave() override {}
    std::size_t enter_list(const char*, const char*, std::size_t n) override { return n; }
    void enter_item(std::size_t) override {}
    void leave_list() override {}
    const char* m_value;
};

/// \param share of the packets that each adapter sends, 0 to 1
inline void inject_loss(two_adapter_bench& bench, const char* share) {
    for (auto& adapter : bench.host.adapters) {
        auto order = adapter->network.link.faults.loss.order();
        rate_setter rate(share);
        order->describe(rate);
        order->apply();
    }
}

/// Every packet goes twice, in both directions.
inline void inject_duplicates(two_adapter_bench& bench) {
    for (auto& adapter : bench.host.adapters) {
        auto& fault = adapter->network.link.faults.duplicate;
        fault.defaults.count = 1'000'000'000;
        fault.order()->apply();
    }
}

inline std::vector<std::uint8_t> read(driver& d, const driver::memory_region& r, std::uint64_t from,
                                      std::size_t bytes) {
    std::vector<std::uint8_t> all(bytes);
    for (std::size_t i = 0; i < bytes; ++i) all[i] = *d.byte(r, from + i);
    return all;
}

inline void fill(driver& d, const driver::memory_region& r, std::mt19937& random) {
    for (std::uint64_t i = 0; i < r.bytes; ++i) *d.byte(r, r.address + i) = static_cast<std::uint8_t>(random());
}

/// Several requests under way: the last of them, above all, which nothing follows that would show a gap.
inline void post_several(two_adapter_bench& bench, const driver::memory_region& ra, const driver::memory_region& rb) {
    std::uint64_t sum = 0, there = 0;
    std::memcpy(&sum, bench.b.byte(rb, 0), 8);
    for (unsigned round = 0; round < 300; ++round) {
        INFO("round " << round);
        const unsigned count = 2 + round % 3;
        for (unsigned i = 0; i < count; ++i) {
            send_request r;
            r.opcode = round % 2 ? HCA_OP_WRITE : HCA_OP_FETCH_ADD;
            r.rkey = rb.key;
            r.remote = round % 2 ? 64 : 0;
            r.list = {{8, ra.key, 8}};
            r.swap_add = 1 + i;
            sum += round % 2 ? 0 : 1 + i;
            bench.qa->post(r);
        }
        for (unsigned i = 0; i < count; ++i) {
            const auto c = bench.wait(bench.a, *bench.cq_a, 2'000'000'000);
            REQUIRE(c);
            REQUIRE(!c->error());
        }
    }
    std::memcpy(&there, bench.b.byte(rb, 0), 8);
    CHECK(there == sum);
}

}  // namespace fabricvp::hca::test
