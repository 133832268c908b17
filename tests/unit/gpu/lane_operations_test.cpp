// SPDX-License-Identifier: Apache-2.0
// The loops over lanes compute the same on every instruction set of the host. That it is the right thing, see
// test_lanes_hart.cpp.
#include <random>

#include <catch2/catch.hpp>

#include "gpu/lanes/lane_operations.h"
#include "riscv/fpu.h"

using namespace fabricvp;
using namespace fabricvp::gpu;
using riscv::opcode;

namespace {

const std::uint64_t special[] = {0,
                                 1,
                                 ~std::uint64_t{0},
                                 std::uint64_t{1} << 63,
                                 0x7fffffff,
                                 0xffffffff80000000,
                                 0xffffffff3f800000,
                                 0xffffffff7f800000,
                                 0xffffffffff800000,
                                 0xffffffff7fa00000,
                                 0xffffffff7fc12345,
                                 0xffffffff00000001,
                                 0xffffffff4f000000,
                                 0xffffffff5f000000,
                                 0xffffffffcf000001,
                                 0x7ff8000000000001,
                                 0x7ff0000000000000,
                                 0xfff4000000000000,
                                 0x3ff0000000000000,
                                 0x8000000000000001,
                                 0x41e0000000000000,
                                 0x43f0000000000000,
                                 0x36a8000000000000};

std::uint64_t operand(std::mt19937_64& random) {
    const auto bits = random();
    switch (random() % 6) {
        case 0: return special[bits % std::size(special)];
        case 1: return bits >> (random() % 64);
        case 2: return 0xffffffff00000000 | bits;
        case 3: return 0xffffffff00000000 | (0x3e800000 + (bits & 0x81ffffff));
        case 4: return 0x3fc0000000000000 + (bits & 0x807fffffffffffff);
        default: return bits;
    }
}

void fill(lane_registers::row& r, std::mt19937_64& random) {
    for (auto& v : r) v = operand(random);
}

std::vector<const lane_operations*> others() {
    std::vector<const lane_operations*> v;
    for (const char* name : {"avx2", "avx512"})
        if (const auto* o = lane_operations::by_name(name)) v.push_back(o);
    return v;
}

const auto& reference = baseline_lane_operations;

}  // namespace

TEST_CASE("there is a way to execute lanes on every host") {
    REQUIRE(lane_operations::by_name("baseline") == &baseline_lane_operations);
    CHECK(lane_operations::by_name(lane_operations::best().name) == &lane_operations::best());
    CHECK(lane_operations::by_name("mmx") == nullptr);
}

TEST_CASE("rows of results are the same on every instruction set") {
    const host_environment host;
    auto registers = std::make_unique<lane_registers>();
    auto& r = registers->r;
    std::mt19937_64 random(7);
    unsigned compared = 0;
    for (unsigned n = 0; n < reference.rows.size(); ++n) {
        if (!reference.rows[n]) continue;
        INFO(riscv::info(static_cast<opcode>(n)).mnemonic);
        for (unsigned round = 0; round < 100; ++round) {
            for (unsigned i = 1; i <= 3; ++i) fill(r[i], random);
            lane_op o;
            o.op = static_cast<opcode>(n);
            o.rs1 = 1;
            o.rs2 = 2;
            o.rs3 = 3;
            const auto mode = round % 10;
            const auto timing = riscv::info(o.op).timing;
            const bool floating =
                timing == riscv::timing_class::floating || timing == riscv::timing_class::float_divide;
            o.immediate = floating ? static_cast<std::int32_t>(mode < 5 ? mode : 7)
                                   : static_cast<std::int32_t>(random() % 4096) - 2048;
            if (riscv::info(o.op).format == riscv::operand_format::register_shift) o.immediate &= 63;
            alignas(64) lane_registers::row expected, result;
            reference.rows[n](o, *registers, expected);
            for (const auto* set : others()) {
                set->rows[n](o, *registers, result);
                for (unsigned lane = 0; lane < wavefront_lanes; ++lane) {
                    if (result[lane] == expected[lane]) continue;
                    INFO(set->name << " immediate " << o.immediate << std::hex << " operands " << r[1][lane] << ' '
                                   << r[2][lane] << ' ' << r[3][lane]);
                    REQUIRE(result[lane] == expected[lane]);
                }
                // In place.
                const auto saved = r[1];
                set->rows[n](o, *registers, r[1]);
                REQUIRE(r[1] == expected);
                r[1] = saved;
            }
        }
        ++compared;
    }
    CHECK(compared > 130);
}

TEST_CASE("comparisons, addresses, blending and loaded data are the same on every instruction set") {
    std::mt19937_64 random(8);
    alignas(64) lane_registers::row a, b, expected, result;
    for (unsigned round = 0; round < 200; ++round) {
        fill(a, random);
        fill(b, random);
        for (unsigned lane = 0; lane < wavefront_lanes; lane += 3) b[lane] = a[lane];
        const lane_mask mask = round == 0 ? ~lane_mask{0} : (random() & random()) | lane_mask{1} << (round % 64);
        for (unsigned n = 0; n < reference.compare.size(); ++n) {
            if (!reference.compare[n]) continue;
            INFO(riscv::info(static_cast<opcode>(n)).mnemonic);
            const auto wanted = reference.compare[n](a, b);
            for (const auto* set : others()) CHECK(set->compare[n](a, b) == wanted);
        }
        const auto offset = static_cast<std::uint64_t>(static_cast<std::int64_t>(random() % 4096) - 2048);
        address_range range{~std::uint64_t{0}, 0, 0};
        for (unsigned lane = 0; lane < wavefront_lanes; ++lane) {
            if (!(mask >> lane & 1)) continue;
            const auto address = a[lane] + offset;
            range = {std::min(range.min, address), std::max(range.max, address), range.bits | address};
        }
        auto sets = others();
        sets.push_back(&reference);
        for (const auto* set : sets) {
            INFO(set->name);
            const auto got = set->addresses(result, a, offset, mask);
            CHECK(got.min == range.min);
            CHECK(got.max == range.max);
            CHECK(got.bits == range.bits);
            bool right = true;
            for (unsigned lane = 0; lane < wavefront_lanes; ++lane) right = right && result[lane] == a[lane] + offset;
            CHECK(right);
            result = a;
            set->blend(result, b, mask);
            right = true;
            for (unsigned lane = 0; lane < wavefront_lanes; ++lane)
                right = right && result[lane] == (mask >> lane & 1 ? b : a)[lane];
            CHECK(right);
            for (const auto format : {load_format::i8, load_format::i16, load_format::i32, load_format::i64,
                                      load_format::u8, load_format::u16, load_format::u32, load_format::box32}) {
                expected = result = a;
                for (unsigned lane = 0; lane < wavefront_lanes; ++lane) {
                    if (!(mask >> lane & 1)) continue;
                    const auto v = b[lane];
                    switch (format) {
                        case load_format::i8:
                            expected[lane] = static_cast<std::uint64_t>(static_cast<std::int8_t>(v));
                            break;
                        case load_format::i16:
                            expected[lane] = static_cast<std::uint64_t>(static_cast<std::int16_t>(v));
                            break;
                        case load_format::i32:
                            expected[lane] = static_cast<std::uint64_t>(static_cast<std::int32_t>(v));
                            break;
                        case load_format::u8: expected[lane] = static_cast<std::uint8_t>(v); break;
                        case load_format::u16: expected[lane] = static_cast<std::uint16_t>(v); break;
                        case load_format::u32: expected[lane] = static_cast<std::uint32_t>(v); break;
                        case load_format::box32:
                            expected[lane] = riscv::fpu::box_s(static_cast<std::uint32_t>(v));
                            break;
                        default: expected[lane] = v;
                    }
                }
                set->write_back(result, b, format, mask);
                CHECK(result == expected);
            }
        }
    }
}
