// SPDX-License-Identifier: Apache-2.0
// What logs and debuggers say of AQL packets.
#include "gpu/control/packet_text.h"

#include <catch2/catch.hpp>

#include <cstring>

#include "abi/gpu.h"
#include "abi/stream_packet.h"

using namespace fabricvp::gpu;

namespace {

template <class Packet>
std::string text(const Packet& p) {
    static_assert(sizeof p == 64);
    std::uint8_t bytes[64];
    std::memcpy(bytes, &p, sizeof bytes);
    return text_of_packet(bytes, "saxpy");
}

template <class Packet>
Packet made(unsigned type, unsigned operation = 0) {
    Packet p{};
    const std::uint16_t words[] = {static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(operation)};
    std::memcpy(&p, words, sizeof words);
    return p;
}

}  // namespace

TEST_CASE("a dispatch: sizes in its dimensions, the part of a grid, signal and order") {
    auto p = made<aql_kernel_dispatch>(AQL_TYPE_KERNEL_DISPATCH, 1);
    p.grid_size[0] = 1024, p.grid_size[1] = 7, p.grid_size[2] = 9;
    p.workgroup_size[0] = 64, p.workgroup_size[1] = 7, p.workgroup_size[2] = 3;
    p.kernarg_address = 0x1000;
    CHECK(text(p) == "kernel saxpy, grid 1024 by 64, arguments at 0x1000");
    p.dimensions = 3 | 4;  // cooperative
    CHECK(text(p) == "kernel saxpy, grid 1024x7x9 by 64x7x3, arguments at 0x1000");
    p.dimensions = 1;
    p.part = std::uint64_t{4} << 32 | 8;
    CHECK(text(p) == "kernel saxpy, grid 1024 by 64, arguments at 0x1000, work-groups 8 to 11");
    p.chunk = 2;
    CHECK(text(p) == "kernel saxpy, grid 1024 by 64, arguments at 0x1000, 2 of every 4 work-groups from 8 on");
    p.chunk = 0, p.part = 0;
    p.completion_signal = 0x40;
    p.header |=
        AQL_HEADER_BARRIER | AQL_FENCE_AGENT << AQL_HEADER_ACQUIRE_SHIFT | AQL_FENCE_SYSTEM << AQL_HEADER_RELEASE_SHIFT;
    CHECK(text(p) ==
          "kernel saxpy, grid 1024 by 64, arguments at 0x1000, signal 0x40, after all before it, "
          "acquires agent, releases system");
}

TEST_CASE("barriers: the signals that they wait for") {
    auto p = made<aql_barrier>(AQL_TYPE_BARRIER_AND);
    CHECK(text(p) == "barrier-AND");
    p.dependency[1] = 0x100, p.dependency[4] = 0x140;
    CHECK(text(p) == "barrier-AND for signals 0x100, 0x140");
    p.header = AQL_TYPE_BARRIER_OR;
    p.completion_signal = 0x180;
    CHECK(text(p) == "barrier-OR for signals 0x100, 0x140, signal 0x180");
}

TEST_CASE("vendor packets: copies, time stamps, and what streams do between kernels") {
    auto v = made<aql_vendor>(AQL_TYPE_VENDOR, AQL_VENDOR_COPY);
    v.argument[0] = 0x10, v.argument[1] = 0x20, v.argument[2] = 30;
    CHECK(text(v) == "copy 30 bytes from 0x10 to 0x20");
    v.operation = AQL_VENDOR_TIMESTAMP;
    CHECK(text(v) == "timestamp to 0x10");
    v.operation = AQL_VENDOR_INVALIDATE_TLB;
    CHECK(text(v) == "invalidate TLBs");
    v.operation = 99;
    CHECK(text(v) == "vendor operation 99");

    auto w = made<aql_stream_write>(AQL_TYPE_VENDOR, AQL_STREAM_WRITE);
    w.write[0] = {0x1000, 0xa};
    w.write[1] = {0x2000, 0xb};
    w.count = 2;
    CHECK(text(w) == "write 0xa to 0x1000, 0xb to 0x2000");
    w.count = 0xffffffff;  // of a guest: no more than there is
    CHECK(text(w) == "write 0xa to 0x1000, 0xb to 0x2000, 0x0 to 0x0");

    auto s = made<aql_stream_wait>(AQL_TYPE_VENDOR, AQL_STREAM_WAIT);
    s.at = 0x3000, s.mask = 0xff, s.value = 5;
    CHECK(text(s) == "wait until 0x3000 under 0xff is 0x5");
    s.condition = AQL_STREAM_GEQ;
    CHECK(text(s) == "wait until 0x3000 under 0xff has reached 0x5");
    auto c = made<aql_stream_completion>(AQL_TYPE_VENDOR, AQL_STREAM_COMPLETION);
    c.at = 0x4000, c.consumer = 3;
    CHECK(text(c) == "wait for completion 3 at 0x4000");
}

TEST_CASE("other types and faults have names or numbers") {
    CHECK(text(made<aql_vendor>(AQL_TYPE_INVALID)) == "invalid");
    CHECK(text(made<aql_vendor>(AQL_TYPE_AGENT_DISPATCH)) == "agent dispatch");
    CHECK(text(made<aql_vendor>(0x7f)) == "type 0x7f");
    CHECK(packet_type(AQL_TYPE_VENDOR | AQL_HEADER_BARRIER) == "vendor");
    CHECK(packet_type(AQL_TYPE_KERNEL_DISPATCH) == "kernel dispatch");
    CHECK(packet_type(AQL_TYPE_BARRIER_AND) == "barrier-AND");
    CHECK(packet_type(AQL_TYPE_BARRIER_OR) == "barrier-OR");
    CHECK(fault_text(GPU_FAULT_UNMAPPED) == "unmapped");
    CHECK(fault_text(9999) == "fault 9999");
}
