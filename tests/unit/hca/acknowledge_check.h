// SPDX-License-Identifier: Apache-2.0
// Requests without a completion of their own: they come to their end at once when nothing that is sent follows them,
// be it a request that cannot be sent, one that sends nothing, or the end of the adapter's window.
#pragma once

#include "two_adapter_bench.h"

namespace fabricvp::hca::test {

/// \param window of the adapter, in entries
inline void check_requests_that_nothing_follows(std::uint64_t window) {
    INFO("window " << window);
    constexpr ticks soon = 20'000'000;
    calendar timeline;
    hca_params p;
    p.send_queues.window = window;
    two_adapter_bench bench{p};
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    const auto ra = a.region(8192), rb = b.region(8192);
    test_qp::settings s;
    s.timeout = 0;  // nothing but an acknowledgement ends a request
    std::uint32_t number = 0x20;
    const auto& requester = host.adapters[0]->requester;
    send_request good;
    good.opcode = HCA_OP_WRITE;
    good.list = {{0, ra.key, 5000}};
    good.rkey = rb.key;
    good.signalled = false;
    send_request nothing;
    nothing.opcode = HCA_OP_NOP;
    nothing.signalled = false;
    auto no_key = good, no_opcode = good;
    no_key.list = {{0, 0xff3300, 64}};
    no_opcode.opcode = 0x1f;
    using list = std::vector<send_request>;

    // --- one that fails is told of, after all before it have arrived ---
    for (const auto& [all, syndrome] : {std::pair{list{good, no_key}, HCA_LOCAL_PROTECTION},
                                        {list{good, good, no_key}, HCA_LOCAL_PROTECTION},
                                        {list{good, no_opcode}, HCA_LOCAL_QP_OPERATION},
                                        {list{good, nothing, no_opcode}, HCA_LOCAL_QP_OPERATION},
                                        {list{good, nothing, no_key, good}, HCA_LOCAL_PROTECTION}}) {
        INFO(all.size() << " requests, syndrome " << syndrome);
        bench.connect(s, number += 2);
        const auto messages = requester.messages.total();
        *b.byte(rb, 4999) = 0;
        *a.byte(ra, 4999) = static_cast<std::uint8_t>(number);
        qa->post(all);
        const auto c = bench.wait(a, *cq_a, soon);
        REQUIRE(c);
        CHECK(c->syndrome == static_cast<unsigned>(syndrome));
        const auto failed = all.size() == 4 ? 2u : all.size() - 1;
        CHECK(c->wqe == qa->slot(static_cast<std::uint16_t>(failed)));
        CHECK(requester.messages.total() == messages + failed);
        CHECK(*b.byte(rb, 4999) == static_cast<std::uint8_t>(number));
        while (bench.wait(a, *cq_a, soon)) continue;  // flushed
    }

    // --- requests that send nothing, with a completion and without ---
    bench.connect(s, number += 2);
    auto told = nothing;
    told.signalled = true;
    auto messages = requester.messages.total();
    qa->post({good, nothing});
    a.run(soon);
    CHECK(requester.messages.total() == messages + 2);
    qa->post({good, told, good, good});
    CHECK(bench.wait(a, *cq_a, soon));
    a.run(soon);
    CHECK(requester.messages.total() == messages + 6);

    // --- more than the window holds ---
    qa->post(list(8, good));
    a.run(soon);
    CHECK(requester.messages.total() == messages + 14);
    qa->post({good, nothing, good, nothing, nothing, nothing, good});
    a.run(soon);
    CHECK(requester.messages.total() == messages + 21);
    CHECK(requester.retries.total() == 0);
}

}  // namespace fabricvp::hca::test
