// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "abi/imsic.h"
#include "host/imsic.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;

namespace {

constexpr std::size_t harts = 3;

struct imsic_bench : test::device_bench<host::imsic> {
    explicit imsic_bench(std::uint64_t identities) : device_bench(host::imsic_params{identities}, harts) {}
    void send(unsigned hart, std::uint32_t identity) {
        master.write32(IMSIC_FILE_STRIDE * hart + IMSIC_SETEIPNUM_LE, identity);
    }
    host::interrupt_file& file(unsigned hart) { return device.files[hart]; }
    std::uint64_t get(unsigned hart, unsigned select) {
        std::uint64_t value = ~0ull;
        CHECK(file(hart).read(select, value));
        return value;
    }
    void set(unsigned hart, unsigned select, std::uint64_t value) { CHECK(file(hart).write(select, value)); }
    std::uint64_t top(unsigned hart) { return file(hart).top(); }
};

imsic_bench& fresh() {
    static imsic_bench b(191);
    b.device.reset();
    return b;
}

constexpr std::uint64_t topei(std::uint64_t identity) { return identity << 16 | identity; }

}  // namespace

TEST_CASE("a message makes its identity pending in one file") {
    auto& b = fresh();
    b.send(1, 70);
    CHECK(b.master.last_status == tlm::TLM_OK_RESPONSE);
    CHECK(b.get(1, IMSIC_EIP0 + 2) == 1ull << 6);
    CHECK(b.get(0, IMSIC_EIP0 + 2) == 0);
    CHECK(b.get(2, IMSIC_EIP0 + 2) == 0);
    CHECK(b.top(1) == 0);  // not enabled
    CHECK(b.master.read32(IMSIC_FILE_STRIDE) == 0);
}

TEST_CASE("identities that are not implemented and big-endian writes are ignored") {
    auto& b = fresh();
    const auto ignored = b.device.ignored.total();
    for (const std::uint32_t identity : {0u, 192u, 0x10001u, 0xffffffffu}) b.send(0, identity);
    b.master.write32(IMSIC_SETEIPNUM_BE, 0x05000000);
    b.master.write32(0x100, 5);
    for (unsigned w = 0; w < 64; w += 2) CHECK(b.get(0, IMSIC_EIP0 + w) == 0);
    CHECK(b.device.ignored.total() == ignored + 4);
}

TEST_CASE("only aligned words are answered") {
    auto& b = fresh();
    b.master.write8(0, 5);
    CHECK(b.master.last_status != tlm::TLM_OK_RESPONSE);
    b.master.write64(0, 5);
    CHECK(b.master.last_status != tlm::TLM_OK_RESPONSE);
    b.master.write32(2, 5);
    CHECK(b.master.last_status != tlm::TLM_OK_RESPONSE);
    CHECK(b.get(0, IMSIC_EIP0) == 0);
    CHECK(b.master.read32(3 * IMSIC_FILE_STRIDE) == 0);  // the page that rounds up to a power of two
    CHECK(b.master.last_status == tlm::TLM_OK_RESPONSE);
}

TEST_CASE("lower identities come first, the threshold holds higher ones back, a claim clears") {
    auto& b = fresh();
    for (unsigned w = 0; w < 6; w += 2) b.set(0, IMSIC_EIE0 + w, ~0ull);
    for (const std::uint32_t identity : {190u, 7u, 64u}) b.send(0, identity);
    CHECK(b.top(0) == topei(7));
    CHECK_FALSE(b.file(0).external_interrupt.level());
    b.set(0, IMSIC_EIDELIVERY, 1);
    CHECK(b.file(0).external_interrupt.level());
    b.set(0, IMSIC_EITHRESHOLD, 7);
    CHECK(b.top(0) == 0);
    CHECK_FALSE(b.file(0).external_interrupt.level());
    b.file(0).claim();  // nothing to claim
    b.set(0, IMSIC_EITHRESHOLD, 8);
    CHECK(b.top(0) == topei(7));
    b.set(0, IMSIC_EITHRESHOLD, 0);
    for (const unsigned identity : {7u, 64u, 190u}) {
        CHECK(b.top(0) == topei(identity));
        CHECK(b.file(0).external_interrupt.level());
        b.file(0).claim();
    }
    CHECK(b.top(0) == 0);
    CHECK_FALSE(b.file(0).external_interrupt.level());
}

TEST_CASE("registers hold what is implemented") {
    auto& b = fresh();
    for (unsigned w = 0; w < 64; w += 2) {
        b.set(0, IMSIC_EIE0 + w, ~0ull);
        b.set(0, IMSIC_EIP0 + w, ~0ull);
        const auto all = w == 0 ? ~1ull : w < 6 ? ~0ull : 0;
        CHECK(b.get(0, IMSIC_EIE0 + w) == all);
        CHECK(b.get(0, IMSIC_EIP0 + w) == all);
    }
    b.set(0, IMSIC_EIDELIVERY, ~0ull);
    CHECK(b.get(0, IMSIC_EIDELIVERY) == 1);
    b.set(0, IMSIC_EITHRESHOLD, 191);
    CHECK(b.get(0, IMSIC_EITHRESHOLD) == 191);
    std::uint64_t value = 0;
    CHECK_FALSE(b.file(0).read(IMSIC_EIP0 + 1, value));
    CHECK_FALSE(b.file(0).write(IMSIC_EIE0 + 3, 0));
    b.set(0, 0x71, 5);  // reserved
    CHECK(b.get(0, 0x71) == 0);
    b.device.reset();
    CHECK(b.get(0, IMSIC_EIE0) == 0);
    CHECK_FALSE(b.file(0).external_interrupt.level());
}

TEST_CASE("other numbers of identities are refused") {
    for (const unsigned identities : {62u, 64u, 100u, 2111u})
        CHECK_THROWS_AS(host::interrupt_file(identities), std::invalid_argument);
}
