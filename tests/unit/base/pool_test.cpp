// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cfenv>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/buffer.h"
#include "base/bus.h"
#include "base/pool.h"

using namespace fabricvp;

namespace {

struct packet : pooled<packet> {
    void recycle() {
        data = {};
        ++recycled;
    }
    buffer_slice data;
    static inline int recycled = 0;
};

}  // namespace

TEST_CASE("transactions go back to their pool with the last reference") {
    packet::recycled = 0;
    pool<packet> packets;
    packet* first;
    {
        pooled_ptr<packet> a = packets.make();
        first = a.get();
        a->data = allocate_slice(100);
        pooled_ptr<packet> b = a;
        CHECK(a->references() == 2);
        a.reset();
        CHECK(packets.live() == 1);
        CHECK(b->data.storage->references() == 1);
    }
    CHECK(packets.live() == 0);
    CHECK(packet::recycled == 1);
    CHECK(buffer::live() == 0);
    std::vector<pooled_ptr<packet>> many;
    for (int i = 0; i < 100; ++i) many.push_back(packets.make());
    CHECK(many[0].get() == first);
    CHECK(packets.made() == 100);
    many.clear();
    for (int i = 0; i < 100; ++i) many.push_back(packets.make());
    CHECK(packets.made() == 100);
}

TEST_CASE("a transaction may outlive its pool") {
    auto packets = std::make_unique<pool<packet>>();
    pooled_ptr<packet> p = packets->make();
    packets.reset();
    p->data = allocate_slice(8);
    CHECK(buffer::live() == 1);
    p.reset();
    CHECK(buffer::live() == 0);
}

TEST_CASE("buffers are shared, sliced and reused, never copied") {
    const buffer_slice all = allocate_slice(1000);
    CHECK(all.storage->capacity() == 1024);
    std::memset(all.data(), 0xee, all.length);
    const buffer_slice header = all.part(0, 64), body = all.part(64, 936);
    CHECK(body.data() == all.data() + 64);
    CHECK(body.part(900, 36).data()[35] == 0xee);
    CHECK(all.storage->references() == 3);
    CHECK_THROWS_AS(all.part(64, 937), std::out_of_range);
    CHECK_THROWS_AS(all.part(1001, 0), std::out_of_range);
    CHECK_THROWS_AS(body.part(1, ~std::size_t{0}), std::out_of_range);
    CHECK_FALSE(buffer_slice{});
    CHECK(header.length == 64);

    const std::uint8_t* used;
    { used = allocate_buffer(5000)->data(); }
    CHECK(allocate_buffer(8192)->data() == used);  // same size class
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{65},
                                    std::size_t{1} << 20, (std::size_t{1} << 20) + 1}) {
        const buffer_ptr b = allocate_buffer(bytes);
        CHECK(b->capacity() >= bytes);
        std::memset(b->data(), 1, bytes);
    }
    CHECK(buffer::live() == 1);
}

TEST_CASE("payloads come clean from their pool") {
    bus_payload* p = allocate_payload();
    p->acquire();
    atomic_extension atomic;
    initiator_extension initiator;
    p->set_extension(&atomic);
    p->set_extension(&initiator);
    p->set_write();
    p->set_address(0x1234);
    p->set_response_status(tlm::TLM_OK_RESPONSE);
    p->set_dmi_allowed(true);
    p->release();
    bus_payload* q = allocate_payload();
    CHECK(q == p);
    CHECK(q->get_ref_count() == 0);
    q->acquire();
    CHECK(q->get_extension<atomic_extension>() == nullptr);
    CHECK(q->get_extension<initiator_extension>() == nullptr);
    CHECK(q->get_command() == tlm::TLM_IGNORE_COMMAND);
    CHECK(q->get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE);
    CHECK_FALSE(q->is_dmi_allowed());
    CHECK(q->get_byte_enable_ptr() == nullptr);
    q->release();
}

TEST_CASE("atomics return the old value and store the new one") {
    using op = atomic_extension::operation;
    const auto run = [](op o, unsigned size, std::uint64_t old, std::uint64_t operand, std::uint64_t compare = 0) {
        std::uint8_t bytes[16];
        std::memset(bytes, 0xcc, sizeof bytes);
        std::memcpy(bytes, &old, size);
        const std::uint64_t mask = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
        CHECK(perform_atomic(o, bytes, size, operand, compare) == (old & mask));
        CHECK(bytes[size] == 0xcc);
        std::uint64_t stored = 0;
        std::memcpy(&stored, bytes, size);
        return stored;
    };
    CHECK(run(op::swap, 4, 1, 2) == 2);
    CHECK(run(op::add, 4, 0xffff'ffff, 2) == 1);
    CHECK(run(op::add, 8, 0xffff'ffff, 2) == 0x1'0000'0001);
    CHECK(run(op::bit_xor, 2, 0xff00, 0x0ff0) == 0xf0f0);
    CHECK(run(op::bit_or, 1, 0x81, 0x18) == 0x99);
    CHECK(run(op::bit_and, 4, 0xf0f0, 0xff00) == 0xf000);
    CHECK(run(op::min, 4, 0xffff'ffff, 1) == 0xffff'ffff);
    CHECK(run(op::min_unsigned, 4, 0xffff'ffff, 1) == 1);
    CHECK(run(op::max, 8, ~std::uint64_t{0}, 1) == 1);
    CHECK(run(op::max_unsigned, 8, ~std::uint64_t{0}, 1) == ~std::uint64_t{0});
    CHECK(run(op::compare_swap, 4, 5, 9, 5) == 9);
    CHECK(run(op::compare_swap, 4, 5, 9, 6) == 5);
    CHECK(run(op::compare_swap, 4, 5, 9, 0x1'0000'0005) == 9);  // operands are as wide as the access
    CHECK(run(op::load_reserved, 4, 5, 9) == 5);
    std::uint8_t bytes[4] = {};
    CHECK_THROWS_AS(perform_atomic(op::add, bytes, 3, 1), std::invalid_argument);
}

TEST_CASE("sums of floats do not depend on what a library has done to the host's arithmetic") {
    const auto sum = [](float a, float b) {
        std::uint8_t bytes[4];
        std::memcpy(bytes, &a, 4);
        std::uint32_t operand = 0;
        std::memcpy(&operand, &b, 4);
        perform_atomic(atomic_extension::operation::add_float, bytes, 4, operand);
        float result = 0;
        std::memcpy(&result, bytes, 4);
        return result;
    };
    constexpr float subnormal = 1e-40f, half_a_unit = 5.9604645e-8f;
    std::fenv_t before;
    std::fegetenv(&before);
    auto altered = before;
    altered.__mxcsr |= 0x8040;  // flushes subnormal numbers, results and operands
    std::fesetenv(&altered);
    const float small = sum(subnormal, 0);
    std::fesetenv(&before);
    std::uint32_t bits = 0, expected = 0;
    std::memcpy(&bits, &small, 4);
    std::memcpy(&expected, &subnormal, 4);
    CHECK(bits == expected);
    std::fesetround(FE_UPWARD);
    const float even = sum(1, half_a_unit);
    std::fesetround(FE_TONEAREST);
    CHECK(even == 1);
}
