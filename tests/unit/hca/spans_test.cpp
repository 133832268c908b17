// SPDX-License-Identifier: Apache-2.0
// Where the time of a message goes: spans from the store to its doorbell until its completion is in memory, without a
// gap.
#include <set>

#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

TEST_CASE("spans of messages") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    bench.connect();
    const auto ra = a.region(8192), rb = b.region(8192);
    auto& recorder = span_recorder::current();
    recorder.enable(true);

    /// Stages of the messages that a request makes, by what the recorder calls them.
    const auto stages = [&](const send_request& r, bool receives) {
        recorder.record_next(1000);
        qa->post(r);
        const auto rung = calendar::current().now();
        bench.good_a();
        if (receives) bench.good_b();
        std::map<std::string, std::vector<std::string>> found;
        for (const auto& k : recorder.recorded()) {
            if (k.what != "message" && k.what != "receive") continue;
            CHECK(k.begin >= rung);
            REQUIRE(!k.spans.empty());
            CHECK(recorder.component_of(k.spans.front().stage).find("root_port0") !=
                  std::string::npos);                                   // the way to the adapter
            CHECK(recorder.name_of(k.spans.back().stage) == "memory");  // and that of its completion
            auto end = k.begin;
            for (const auto& s : k.spans) {
                CHECK(s.begin == end);
                end = s.end;
                const auto& component = recorder.component_of(s.stage);
                const auto adapter = component.find("hca");
                found[k.what].push_back((adapter == std::string::npos ? component : component.substr(adapter)) + "." +
                                        recorder.name_of(s.stage));
            }
            CHECK(end == k.end);
        }
        return found;
    };
    const auto has = [](const std::vector<std::string>& all, const std::string& name) {
        return std::count(all.begin(), all.end(), name) == 1;
    };

    send_request w;
    w.opcode = HCA_OP_WRITE;
    w.list = {{0, ra.key, 100}};
    w.rkey = rb.key;
    auto all = stages(w, false);
    REQUIRE(all.size() == 1);
    for (const char* name : {// what takes no time, such as translation by what is cached, is not there
                             "hca0.send_queues.doorbell", "hca0.send_queues.fetch", "hca0.requester.scheduling",
                             "hca0.requester.payload", "hca0.network.link.wire", "hca1.network.receive",
                             "hca1.responder.placement", "hca1.network.link.wire", "hca0.network.receive"}) {
        INFO(name);
        CHECK(has(all["message"], name));
    }

    qb->post_receive({{0, rb.key, 8192}});
    send_request s;
    s.list = {{0, ra.key, 1000}};
    all = stages(s, true);
    REQUIRE(all.size() == 2);
    CHECK(has(all["receive"], "hca0.send_queues.doorbell"));
    CHECK(has(all["receive"], "hca1.responder.receive_wqe"));
    CHECK(!has(all["receive"], "hca1.network.link.wire"));  // of the acknowledgement
    CHECK(has(all["receive"], "hca1.link.serialisation"));  // of its completion

    send_request r = w;
    r.opcode = HCA_OP_READ;
    all = stages(r, false);
    CHECK(has(all["message"], "hca1.responder.memory"));
    r.opcode = HCA_OP_FETCH_ADD;
    r.list = {{0, ra.key, 8}};
    all = stages(r, false);
    CHECK(has(all["message"], "hca1.responder.atomic"));
}
