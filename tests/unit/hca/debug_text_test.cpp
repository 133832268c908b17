// SPDX-License-Identifier: Apache-2.0
// What the adapter fetches and writes, in words, as `--log-bus hca` prints it and GDB's `monitor qp` shows it.
#include "two_adapter_bench.h"

#include "base/bus_log.h"
#include "hca/queues/debug_text.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

/// Lines while it lives, without the names of the adapters.
struct log_capture {
    std::vector<std::string> lines;
    bus_log::sink before = bus_log::set_sink([this](const std::string& source, const std::string& text) {
        lines.push_back(source.substr(source.find('.') + 1) + ": " + text);
    });
    explicit log_capture(const bus_log::filter& wanted = {}) { REQUIRE(bus_log::show("hca", true, wanted)); }
    ~log_capture() {
        bus_log::show("hca", false);
        bus_log::set_sink(before);
    }
    unsigned count(const std::string& words) const {
        return static_cast<unsigned>(std::count_if(
            lines.begin(), lines.end(), [&](const std::string& l) { return l.find(words) != std::string::npos; }));
    }
};

}  // namespace

TEST_CASE("doorbells, entries and completions are logged as text") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    const auto ra = a.region(8192), rb = b.region(8192, 1, driver::all_rights, 0x4000'0000);
    bench.connect();
    qb->post_receive({{rb.address + 64, rb.key, 128}});
    send_request w;
    w.opcode = HCA_OP_WRITE_IMMEDIATE;
    w.list = {{16, ra.key, 100}};
    w.remote = rb.address;
    w.rkey = rb.key;
    w.immediate = 0x1234;
    CHECK(!bus_log::show("disks"));
    {
        const log_capture captured;
        qa->post(w);
        bench.good_a();
        bench.good_b();
        const auto sq = fmt::format("{:#x}", qa->memory.address + qa->slot(0));
        for (const auto& line : captured.lines) UNSCOPED_INFO(line);
        CHECK(captured.count("send_queues: qp 0x20 doorbell: 1 entries from 0 on") == 1);
        CHECK(captured.count(
                  fmt::format("send_queues: qp 0x20 send WQE 0 at {}: write with immediate 100 bytes at 0x10 key "
                              "{:#x} to 0x40000000 rkey {:#x} immediate 0x1234, signalled",
                              sq, ra.key, rb.key)) == 1);
        CHECK(captured.count(fmt::format(
                  "receive_queues: qp 0x21 receive WQE at {:#x}: receive into 128 bytes at 0x40000040 key {:#x}",
                  qb->memory.address, rb.key)) == 1);
        CHECK(captured.count("completion_queues: cq 0x80 completion 0 to bus address ") == 1);
        CHECK(captured.count(
                  fmt::format(": qp 0x20 write with immediate done, WQE at {:#x} of its buffer", qa->slot(0))) == 1);
        CHECK(captured.count(": qp 0x21 received 100 bytes") == 1);
        CHECK(captured.lines.size() == 5);
    }
    for (const std::uint64_t wanted : {0x21, 0x20, 0x99}) {
        const log_capture captured({wanted, false, "*"});
        qb->post_receive({{rb.address + 64, rb.key, 128}});
        qa->post(w);
        bench.good_a();
        bench.good_b();
        const auto number = fmt::format("{:#x}", wanted);
        for (const auto& line : captured.lines) UNSCOPED_INFO(line);
        CHECK(captured.count(": qp " + number + " ") == captured.lines.size());
        CHECK(captured.lines.size() == (wanted == 0x20 ? 3 : wanted == 0x21 ? 2 : 0));
    }
    {
        const log_capture captured({{}, true, "*.a.*"});
        CHECK(captured.lines.empty());
    }
    {
        const log_capture captured({{}, true, "*"});
        w.opcode = HCA_OP_WRITE;
        w.rkey ^= 0x100;
        a.doorbell(test_qp::uar, HCA_UAR_SEND, 1u << 24 | 9u << 8 | HCA_OP_NOP, qa->number << 8 | 1);
        qa->post(w);
        REQUIRE(bench.wait(a, *cq_a));
        for (const auto& line : captured.lines) UNSCOPED_INFO(line);
        CHECK(captured.count(": doorbell 0x1000900 0x2001 at 0x10 of page 2: dropped") == 1);
        CHECK(captured.count("qp 0x20 send queue failed: remote access error") == 1);
    }
    const auto before = bench.host.adapters[0]->doorbells.total();
    qa->post(w);  // not polled any more
    a.run();
    CHECK(bench.host.adapters[0]->doorbells.total() == before + 1);

    // --- a queue pair in words ---
    bench.connect({}, 0x22);
    send_request s;  // no receive is posted: it is sent again and again
    s.list = {{0, ra.key, 64}};
    qa->post(s);
    a.run();
    const auto* q = bench.host.adapters[0]->queue_pairs.find(qa->number);
    REQUIRE(q);
    const auto text = text_of(*q);
    INFO(text);
    CHECK(text.find("reliable connection, RTS, with lid 0x2 qp 0x23; doorbells on page 2, completions to cq 0x80 "
                    "(sends) and 0x80 (receives)\n") == 0);
    CHECK(text.find("send queue: 1 posted, 1 fetched, 0 completed; ring of 16 entries of 128 bytes at ") !=
          std::string::npos);
    CHECK(text.find(fmt::format("WQE 0: send 64 bytes at 0x0 key {:#x}, signalled; ", ra.key)) != std::string::npos);
    CHECK(text.find("receive queue: 0 posted as far as is known, 0 consumed; ring of 16 entries of 128 bytes at ") !=
          std::string::npos);
}
