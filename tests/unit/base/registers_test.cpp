// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "base/registers.h"

using namespace fabricvp;

namespace {

template <class T>
T read(register_bank& bank, std::uint64_t offset, bool debug = false) {
    T value{};
    REQUIRE(bank.read(offset, &value, sizeof value, debug));
    return value;
}
template <class T>
void write(register_bank& bank, std::uint64_t offset, T value, bool debug = false) {
    REQUIRE(bank.write(offset, &value, sizeof value, debug));
}

struct device {
    explicit device(register_bank::gaps g = register_bank::gaps::ignored) : bank(0x100, g) {}
    register_bank bank;
    device_register control{bank,
                            "control",
                            0x0,
                            4,
                            0x0000'0100,
                            {{"enable", 0, 1, field_access::read_write, "enables the device"},
                             {"key", 4, 4, field_access::write_only, "reads as zero"},
                             {"version", 8, 8, field_access::read_only, "version"},
                             {"reserved", 16, 16, field_access::reserved, ""}}};
    device_register status{bank,
                           "status",
                           0x4,
                           4,
                           0,
                           {{"done", 0, 1, field_access::write_one_to_clear, "work is done"},
                            {"error", 8, 1, field_access::write_one_to_clear, "work failed"},
                            {"mask", 16, 8, field_access::read_write, "interrupt mask"}}};
    device_register count{bank, "count", 0x8, 8, 0x1122'3344'5566'7788};
    device_register byte{bank, "byte", 0x10, 1, 0x5a};
    device_register threshold{bank, "threshold", 0x20, 4, 1, {}, {3, 0x10}};
    device_register claim{bank, "claim", 0x24, 4, 2, {}, {3, 0x10}};
};

}  // namespace

TEST_CASE("fields decide what a write changes and a read shows") {
    device d;
    write<std::uint32_t>(d.bank, 0, 0xffff'ffff);
    CHECK(d.control() == 0x0000'01f1);
    CHECK(read<std::uint32_t>(d.bank, 0) == 0x0000'0101);  // the key reads as zero
    write<std::uint32_t>(d.bank, 0, 0);
    CHECK(read<std::uint32_t>(d.bank, 0) == 0x0000'0100);

    d.status.set(0x0000'0101);
    write<std::uint32_t>(d.bank, 4, 0x00ff'0001);
    CHECK(d.status() == 0x00ff'0100);
    write<std::uint32_t>(d.bank, 4, 0);
    CHECK(d.status() == 0x0000'0100);
    d.bank.reset();
    CHECK(d.status() == 0);
    CHECK(d.control() == 0x100);
}

TEST_CASE("narrow and wide accesses are merged from bytes") {
    device d;
    CHECK(read<std::uint8_t>(d.bank, 0x8 + 7) == 0x11);
    CHECK(read<std::uint16_t>(d.bank, 0x8 + 1) == 0x6677);
    write<std::uint16_t>(d.bank, 0x8 + 2, 0xbeef);
    CHECK(d.count() == 0x1122'3344'beef'7788);
    // A narrow write neither clears the other byte's flag nor loses what is stored there.
    d.status.set(0x00aa'0101);
    write<std::uint8_t>(d.bank, 0x4, 1);
    CHECK(d.status() == 0x00aa'0100);
    write<std::uint8_t>(d.bank, 0x6, 0x55);
    CHECK(d.status() == 0x0055'0100);
    // Wide: two registers at once.
    CHECK(read<std::uint64_t>(d.bank, 0) == 0x0055'0100'0000'0100);
    write<std::uint64_t>(d.bank, 0, 0x0000'0100'0000'0001);
    CHECK(d.control() == 0x101);
    CHECK(d.status() == 0);
    CHECK(read<std::uint8_t>(d.bank, 0x10) == 0x5a);
}

TEST_CASE("handlers run on bus accesses, not on a debugger's") {
    device d;
    std::vector<std::uint64_t> written;
    int reads = 0;
    d.count.on_read([&](std::size_t) { return static_cast<std::uint64_t>(++reads); });
    d.status.on_write([&](std::size_t, std::uint64_t value) {
        written.push_back(value);
        written.push_back(d.status());
    });
    CHECK(read<std::uint64_t>(d.bank, 8) == 1);
    CHECK(read<std::uint64_t>(d.bank, 8, true) == 0x1122'3344'5566'7788);
    CHECK(reads == 1);
    d.count.on_debug_read([](std::size_t) { return std::uint64_t{42}; });
    CHECK(read<std::uint64_t>(d.bank, 8, true) == 42);
    d.status.set(1);
    write<std::uint32_t>(d.bank, 4, 0xff01'0001);
    CHECK(written == std::vector<std::uint64_t>{0xff01'0001, 0x0001'0000});
    write<std::uint32_t>(d.bank, 4, 0x0000'0101, true);
    CHECK(d.status() == 0x101);
    CHECK(written.size() == 2);
}

TEST_CASE("arrays of registers may interleave") {
    device d;
    std::vector<std::size_t> claimed;
    d.claim.on_read([&](std::size_t index) {
        claimed.push_back(index);
        return d.claim.get(index);
    });
    for (std::uint32_t i = 0; i < 3; ++i) {
        write<std::uint32_t>(d.bank, 0x20 + 0x10 * i, 10 + i);
        write<std::uint32_t>(d.bank, 0x24 + 0x10 * i, 20 + i);
    }
    CHECK(d.threshold.get(2) == 12);
    CHECK(d.claim.get(1) == 21);
    CHECK(read<std::uint32_t>(d.bank, 0x44) == 22);
    CHECK(claimed == std::vector<std::size_t>{2});
    CHECK(d.bank.find("claim") == &d.claim);
    CHECK(d.bank.find("nothing") == nullptr);
    CHECK(d.bank.registers().front() == &d.control);
}

TEST_CASE("gaps read as zero and are counted, or are errors") {
    device d;
    CHECK(read<std::uint32_t>(d.bank, 0x28) == 0);
    CHECK(d.bank.gap_accesses() == 1);
    write<std::uint32_t>(d.bank, 0x60, 5);
    CHECK(read<std::uint32_t>(d.bank, 0x10) == 0x5a);
    CHECK(d.bank.gap_accesses() == 3);
    read<std::uint32_t>(d.bank, 0x28, true);
    CHECK(d.bank.gap_accesses() == 3);

    device strict{register_bank::gaps::errors};
    std::uint64_t value = 0;
    CHECK(strict.bank.read(0x0, &value, 4));
    CHECK_FALSE(strict.bank.read(0x28, &value, 4));
    CHECK_FALSE(strict.bank.write(0x10, &value, 4));
    CHECK(strict.byte() == 0x5a);  // nothing of a refused write happens
    CHECK_FALSE(strict.bank.read(0xfe, &value, 4));
    CHECK_FALSE(strict.bank.read(~std::uint64_t{0}, &value, 4));
}

TEST_CASE("wrong declarations are refused") {
    register_bank bank(0x10);
    device_register first{bank, "first", 0, 4, 0};
    const auto rw = field_access::read_write;
    CHECK_THROWS_AS(device_register(bank, "overlap", 2, 4, 0), std::logic_error);
    CHECK_THROWS_AS(device_register(bank, "outside", 0xe, 4, 0), std::logic_error);
    CHECK_THROWS_AS(device_register(bank, "odd", 8, 3, 0), std::logic_error);
    CHECK_THROWS_AS(device_register(bank, "reset", 8, 1, 0x100), std::logic_error);
    CHECK_THROWS_AS(device_register(bank, "field", 8, 4, 0, {{"a", 31, 2, rw, ""}}), std::logic_error);
    CHECK_THROWS_AS(device_register(bank, "fields", 8, 4, 0, {{"a", 0, 2, rw, ""}, {"b", 1, 2, rw, ""}}),
                    std::logic_error);
    CHECK_THROWS_AS(device_register(bank, "array", 8, 4, 0, {}, {2, 2}), std::logic_error);
    CHECK(bank.registers().size() == 1);
}
