// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "pcie/bridge.h"
#include "pcie/function.h"

using namespace fabricvp::pcie;

namespace {

struct test_function : function {
    test_function() : function({0xfab0, 0x1f00, 0x120000, 3, 0x1af4, 7}) {
        add_bar(0, 0x4000, false, false);
        add_bar(2, std::uint64_t{1} << 33, true, true);
        add_power_management(space);
        add_msi_x(space, 16, 0, 0x2000, 0x2800);
        express_settings s;
        s.function_level_reset = true;
        add_express(space, s);
        add_aer(space, false);
        add_serial_number(space, 0x0123456789abcdef);
    }
};

}  // namespace

TEST_CASE("identity is read-only") {
    test_function f;
    f.space.write(0x00, 4, 0xffffffff);
    CHECK(f.space.read(0x00, 4) == 0x1f00fab0);
    f.space.write(0x08, 4, 0);
    CHECK(f.space.read(0x08, 4) == 0x12000003);
    CHECK(f.space.read(0x0b, 1) == 0x12);
}

TEST_CASE("BARs size by writing ones, 32 and 64 bits wide") {
    test_function f;
    f.space.write(0x10, 4, 0xffffffff);
    CHECK(f.space.read(0x10, 4) == 0xffffc000);
    f.space.write(0x18, 4, 0xffffffff);
    f.space.write(0x1c, 4, 0xffffffff);
    CHECK(f.space.read(0x18, 4) == 0x0000000c);  // 8 GiB: no address bit in the low half; 64-bit, prefetchable
    CHECK(f.space.read(0x1c, 4) == 0xfffffffe);
    f.space.write(0x10, 4, 0x40004000);
    f.space.write(0x1c, 4, 0x4);
    f.space.write(0x18, 4, 0);
    CHECK_FALSE(f.decode(0x40004010, 4));  // memory space is off
    f.space.write(0x04, 2, 0x0006);
    REQUIRE(f.decode(0x40004010, 4));
    CHECK(f.decode(0x40004010, 4)->bar == 0);
    CHECK(f.decode(0x40004010, 4)->offset == 0x10);
    CHECK(f.decode(0x4'0000'0100, 8)->bar == 2);
    CHECK_FALSE(f.decode(0x40007ffe, 4));  // runs over the end
}

TEST_CASE("capabilities form a chain, each where find says") {
    test_function f;
    std::vector<unsigned> ids;
    for (unsigned at = f.space.read(0x34, 1); at; at = f.space.read(at + 1, 1)) {
        ids.push_back(f.space.read(at, 1));
        CHECK(f.space.find_capability(static_cast<std::uint8_t>(ids.back())) == at);
    }
    CHECK(ids == std::vector<unsigned>{power_management_id, msi_x_id, express_id});
    CHECK(f.space.read(0x06, 2) == 0x0010);
    const auto aer_at = f.space.find_extended_capability(aer_id);
    REQUIRE(aer_at == 0x100);
    CHECK(f.space.read(aer_at, 4) >> 20 == f.space.find_extended_capability(serial_number_id));
    CHECK(f.space.read(f.space.find_extended_capability(serial_number_id) + 4, 4) == 0x89abcdef);
    CHECK(f.space.find_extended_capability(acs_id) == 0);
}

TEST_CASE("error status is cleared by ones, survives a function-level reset, and not power-on") {
    test_function f;
    const auto aer_at = f.space.find_extended_capability(aer_id);
    const auto device_status = f.space.find_capability(express_id) + express::device_status;
    f.report_uncorrectable(aer::unsupported_request);
    f.report_uncorrectable(aer::poisoned);
    CHECK(f.space.read(aer_at + aer::uncorrectable_status, 4) == (aer::unsupported_request | aer::poisoned));
    CHECK(f.space.read(device_status, 2) == 0x000a);  // non-fatal, unsupported request
    f.space.write(aer_at + aer::uncorrectable_status, 4, aer::poisoned);
    CHECK(f.space.read(aer_at + aer::uncorrectable_status, 4) == aer::unsupported_request);
    f.space.write(0x04, 2, 0x0006);
    f.space.reset(false);
    CHECK(f.space.read(aer_at + aer::uncorrectable_status, 4) == aer::unsupported_request);
    CHECK(f.space.read(0x04, 2) == 0);
    f.space.reset(true);
    CHECK(f.space.read(aer_at + aer::uncorrectable_status, 4) == 0);
}

TEST_CASE("payload limits come from device control") {
    test_function f;
    CHECK(f.max_payload() == 128);
    CHECK(f.max_read_request() == 512);
    const auto control = f.space.find_capability(express_id) + express::device_control;
    f.space.write(control, 2, 0x5000 | 1u << 5);
    CHECK(f.max_payload() == 256);
    CHECK(f.max_read_request() == 4096);
}

TEST_CASE("a bridge forwards what its windows and bus numbers hold") {
    express_settings s;
    s.type = port_type::switch_downstream;
    bridge b(0xfab0, 0x1051, s);
    CHECK_FALSE(b.has_bus(1));
    CHECK_FALSE(b.has_address(0));  // closed after reset
    b.space.write(0x18, 4, 0x00050302);
    CHECK(b.has_bus(3));
    CHECK(b.has_bus(5));
    CHECK_FALSE(b.has_bus(6));
    b.space.write(0x20, 4, 0x40104000);
    CHECK_FALSE(b.has_address(0x40000000));
    b.space.write(0x04, 2, 2);
    CHECK(b.has_address(0x40000000));
    CHECK(b.has_address(0x401fffff));
    CHECK_FALSE(b.has_address(0x40200000));
    b.space.write(0x24, 4, 0xfff00000);
    b.space.write(0x28, 4, 4);
    b.space.write(0x2c, 4, 4);
    CHECK(b.has_address(0x4'0000'0000));
    CHECK(b.has_address(0x4'ffff'ffff));
    CHECK_FALSE(b.has_address(0x5'0000'0000));
    CHECK_FALSE(b.redirects_requests());
    b.space.write(b.space.find_extended_capability(acs_id) + 6, 2, 0x0004);
    CHECK(b.redirects_requests());
}
