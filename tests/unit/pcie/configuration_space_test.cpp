// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "pcie/bridge.h"
#include "pcie/function.h"
#include "pcie/tlp.h"

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

TEST_CASE("software resizes a BAR to the sizes that the capability names") {
    function f({0xfab0, 0x1f00, 0x120000, 3, 0x1af4, 7});
    constexpr std::uint64_t mib = 1 << 20;
    f.add_resizable_bar(2, 8 * mib, 64 * mib);
    const auto at = f.space.find_extended_capability(resizable_bar_id);
    REQUIRE(at);
    CHECK(f.space.read(at + 4, 4) == 0b1111u << 7);  // bit 4 + n: 2^n MiB
    CHECK(f.space.read(at + 8, 4) == (3u << 8 | 1u << 5 | 2));
    f.space.write(0x18, 4, 0x01800000);
    f.space.write(0x1c, 4, 4);
    f.space.write(0x04, 2, 0x0002);
    REQUIRE(f.decode(0x4'0180'0000, 4));
    f.space.write(at + 8, 4, 6u << 8);
    CHECK(f.bar_size(2) == 64 * mib);
    CHECK(f.space.read(at + 8, 4) == (6u << 8 | 1u << 5 | 2));
    CHECK_FALSE(f.decode(0x4'0180'0000, 4));  // its address has to be written again
    f.space.write(0x18, 4, 0xffffffff);
    CHECK(f.space.read(0x18, 4) == 0xfc00000c);
    f.space.write(0x18, 4, 0x04000000);
    f.space.write(0x1c, 4, 4);
    REQUIRE(f.decode(0x4'07ff'fffc, 4));
    CHECK(f.decode(0x4'07ff'fffc, 4)->offset == 64 * mib - 4);
    for (const unsigned unsupported : {2u, 7u, 27u, 28u, 63u}) {
        f.space.write(at + 8, 4, unsupported << 8);
        CHECK(f.bar_size(2) == 64 * mib);
        CHECK(f.space.read(at + 8, 4) == (6u << 8 | 1u << 5 | 2));
        CHECK(f.decode(0x4'0400'0000, 4));
    }
    f.reset(false);
    CHECK(f.bar_size(2) == 8 * mib);
    CHECK(f.space.read(at + 8, 4) == (3u << 8 | 1u << 5 | 2));
}

TEST_CASE("the header of a request that went wrong is logged as it was on the wire") {
    test_function f;
    const auto at = f.space.find_extended_capability(aer_id);
    const auto logged = [&](tlp_kind kind, std::uint64_t address, std::uint32_t bytes, auto&& more) {
        const auto t = make_tlp();
        t->kind = kind;
        t->address = address;
        t->bytes = bytes;
        t->requester = 0x1208;
        t->tag = 0x5a;
        more(*t);
        f.report_uncorrectable(aer::unsupported_request, t.get());
        std::array<std::uint64_t, 4> words{};
        for (unsigned i = 0; i < 4; ++i) words[i] = f.space.read(at + aer::header_log + 4 * i, 4);
        f.space.write(at + aer::uncorrectable_status, 4, 0xffffffff);
        return words;
    };
    using words = std::array<std::uint64_t, 4>;
    const auto whole = [](tlp& t) { t.first_be = 0xf, t.last_be = 0; };
    CHECK(logged(tlp_kind::configuration_read, 0x0300'0010, 4, whole) == words{0x04000001, 0x12085a0f, 0x03000010, 0});
    CHECK(logged(tlp_kind::configuration_write, 0x0300'0010, 4, [&](tlp& t) { whole(t), t.type_1 = true; }) ==
          words{0x45000001, 0x12085a0f, 0x03000010, 0});
    CHECK(logged(tlp_kind::fetch_add, 0x2'4000'0008, 8, [](tlp& t) { t.first_be = 0xf, t.last_be = 0xf; }) ==
          words{0x6c000002, 0x12085aff, 0x2, 0x40000008});
    CHECK(logged(tlp_kind::swap, 0x4000'0008, 4, whole) == words{0x4d000001, 0x12085a0f, 0x40000008, 0});
    CHECK(logged(tlp_kind::compare_swap, 0x4000'0008, 16, [](tlp& t) { t.first_be = 0xf, t.last_be = 0xf; }) ==
          words{0x4e000004, 0x12085aff, 0x40000008, 0});
    CHECK(logged(tlp_kind::message, 0, 0, [](tlp& t) { t.code = message_code::error_nonfatal; }) ==
          words{0x30000000, 0x12085a31, 0, 0});
    CHECK(logged(tlp_kind::message, 0, 0, [](tlp& t) { t.code = static_cast<message_code>(0x20); }) ==
          words{0x34000000, 0x12085a20, 0, 0});
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
    b.space.write(b.space.find_extended_capability(acs_id) + 6, 2, 0xffff);
    CHECK(b.redirects_requests());
}

TEST_CASE("capabilities offer what is modelled") {
    express_settings s;
    s.type = port_type::switch_downstream;
    bridge down(0xfab0, 0x1051, s);
    const auto acs = down.space.find_extended_capability(acs_id);
    CHECK(down.space.read(acs + 4, 2) == 0x0004);  // request redirect
    down.space.write(acs + 6, 2, 0xffff);
    CHECK(down.space.read(acs + 6, 2) == 0x0004);
    s.type = port_type::root_port;
    for (const unsigned boundary : {64u, 128u}) {
        s.completion_boundary = boundary;
        bridge root(0xfab0, 0x1052, s);
        CHECK(root.space.find_extended_capability(acs_id) == 0);
        const auto at = root.space.find_capability(express_id);
        CHECK((root.space.read(at + express::device_capabilities_2, 4) & 0x1f) == 0);  // completion time-outs
        root.space.write(at + express::device_control_2, 2, 0x001f);
        CHECK(root.space.read(at + express::device_control_2, 2) == 0);
        root.space.write(at + express::link_control, 2, boundary == 64 ? 0x0008 : 0);
        CHECK((root.space.read(at + express::link_control, 2) & 0x0008) == (boundary == 64 ? 0 : 0x0008));
    }
}
