// SPDX-License-Identifier: Apache-2.0
// Software takes the firmware's memory back (UNMAP_FA) while messages are under way, and starts the adapter anew.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

constexpr std::uint32_t bytes = 64'000;

/// A driver from start-up on, with a queue pair that is connected to itself.
struct user {
    driver d;
    completion_queue cq;
    driver::memory_region memory;
    test_qp qp;

    user(computer& host, std::uint64_t memory_from)
        : d(host, 0, memory_from, memory_from + (4 << 20)),
          cq(open(d)),
          memory(d.region(2 * bytes)),
          qp(d, 0x20, 0x80, 0x80, 4, deep()) {
        qp.connect(0x20, 1);
        d.run(50'000'000);  // the link has trained by then
    }
    static completion_queue open(driver& d) {
        d.start();
        d.create_eq(1, 4, HCA_INTERRUPT_MESSAGE);
        REQUIRE(d.command(HCA_INIT_IB, 1) == HCA_OK);
        return create_cq(d, 0x80, 7, 1, 0);
    }
    static test_qp::settings deep() {
        test_qp::settings s;
        s.log_sq = 6;
        return s;
    }
    send_request request(unsigned opcode) const {
        send_request r;
        r.opcode = opcode;
        r.list = {{bytes, memory.key, opcode == HCA_OP_FETCH_ADD ? 8 : bytes}};
        r.rkey = memory.key;
        r.swap_add = 1;
        return r;
    }
    std::optional<completion> wait() {
        for (unsigned i = 0; i < 200; ++i) {
            if (auto c = poll(d, cq, 0)) return c;
            d.run(1'000'000);
        }
        return std::nullopt;
    }
};

}  // namespace

TEST_CASE("the firmware's memory is taken back while messages are under way") {
    calendar timeline;
    computer host("host", 2);
    two_adapter_bench::cable(host.adapters[0]->network.link, host.adapters[1]->network.link);
    auto& hca = *host.adapters[0];
    std::uint64_t memory = 1 << 20;
    for (const unsigned opcode : {HCA_OP_WRITE, HCA_OP_READ, HCA_OP_SEND, HCA_OP_FETCH_ADD, HCA_OP_WRITE}) {
        INFO("opcode " << opcode);
        user u(host, memory);
        memory += 8 << 20;
        if (opcode == HCA_OP_SEND)
            for (unsigned i = 0; i < 16; ++i) u.qp.post_receive({{0, u.memory.key, bytes}});
        u.qp.post(u.request(opcode));
        const auto first = u.wait();
        REQUIRE(first);
        CHECK(!first->error());

        const auto requests = hca.requester.requests.total();
        for (unsigned i = 0; i < 40; ++i) u.qp.post(u.request(opcode));
        while (hca.requester.requests.total() < requests + 4 || hca.dma.outstanding() == 0) u.d.run(100'000);
        REQUIRE(u.d.command(HCA_UNMAP_FA) == HCA_OK);
        CHECK(hca.dma.outstanding() == 0);
        u.d.run(200'000'000);
        CHECK(u.d.command(HCA_NOP) == HCA_OK);
    }
}
