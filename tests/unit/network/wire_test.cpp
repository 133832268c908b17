// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <random>
#include <string>

#include "network/wire.h"
#include "unit/network/packet_samples.h"

using namespace fabricvp;
using namespace fabricvp::network;

namespace {

std::vector<std::uint8_t> hex(const std::string& text) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        if (text[i] == ' ') {
            --i;
            continue;
        }
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

// The sample packet of the InfiniBand Architecture Specification (volume 1, table 29), with its ICRC 0x9625b75a; both
// are quoted on the linux-rdma list ("rxe: ICRC", Jason Gunthorpe) and in Mellanox's packet library of 2004 (MT23108
// driver), whose table-driven VCRC gives fa45 for it, lowest byte first. It is an RDMA write of 14 bytes.
const auto sample =
    hex("7012375C 000E17D2 0A202487 0087B1B3 000DEC2A 01710A1C 015D4002 38F27A05 0000000E BB884D85 FD5CFBA4 728BC069 "
        "0ED40000");
// The same with a global route header, from that library.
const auto global_sample =
    hex("7013375C 001817D2 60000000 00320010 00000000 00000125 00000000 00000026 00000000 00000117 00000000 00000096"
        "0A202487 0087B1B3 000DEC2A 01710A1C 015D4002 38F27A05 0000000E BB884D85 FD5CFBA4 728BC069 0ED40000");

}  // namespace

TEST_CASE("the specification's sample packet has the ICRC and VCRC that are published") {
    CHECK(invariant_crc(sample.data(), sample.size()) == 0x5ab72596);
    auto whole = sample;
    for (const auto b : {0x96, 0x25, 0xb7, 0x5a}) whole.push_back(static_cast<std::uint8_t>(b));
    CHECK(variant_crc(whole.data(), whole.size()) == 0xfa45);
    for (const auto b : {0x45, 0xfa}) whole.push_back(static_cast<std::uint8_t>(b));
    CHECK(has_good_invariant_crc(whole));
    CHECK(has_good_variant_crc(whole));
    const auto p = make_packet();
    REQUIRE(decode(whole.data(), whole.size(), *p) == nullptr);
    CHECK(p->bth.opcode == opcode_of(transport::rc, operation::write_only));
    CHECK(p->reth.length == 14);
    CHECK(p->payload.length == 14);
    p->measure();
    CHECK(encode(*p) == whole);
    whole[0] = 0x10;  // another virtual lane
    CHECK(has_good_invariant_crc(whole));
    CHECK_FALSE(has_good_variant_crc(whole));
    whole[30] ^= 1;
    CHECK_FALSE(has_good_invariant_crc(whole));
}

TEST_CASE("the invariant CRC of a global packet leaves out what routers change") {
    CHECK(invariant_crc(global_sample.data(), global_sample.size()) == 0x46ec9314);
    auto routed = global_sample;
    for (const auto at : {0, 1, 2, 3, 9, 10, 11, 15, 52}) routed[static_cast<std::size_t>(at)] ^= at == 1 ? 0xf0 : 0xff;
    CHECK(invariant_crc(routed.data(), routed.size()) == 0x46ec9314);
    routed[14] ^= 1;
    CHECK(invariant_crc(routed.data(), routed.size()) != 0x46ec9314);
}

TEST_CASE("the variant CRC has the polynomial 0x100b, the lowest bit of a byte first") {
    // Entries 1, 2, 4 and 128 of the table in that library; between two bytes' CRCs the start value cancels out.
    const std::uint8_t zero[1] = {0};
    for (const auto& [index, entry] : {std::pair{1, 0x1ba1}, {2, 0x3742}, {4, 0x6e84}, {128, 0xd008}}) {
        const std::uint8_t byte[1] = {static_cast<std::uint8_t>(index)};
        CHECK((variant_crc(byte, 1) ^ variant_crc(zero, 1)) == entry);
    }
}

TEST_CASE("a packet of each operation comes back from its bytes") {
    std::mt19937_64 random(11);
    unsigned known = 0;
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
        if (!extensions_of(static_cast<std::uint8_t>(opcode))) continue;
        ++known;
        for (int i = 0; i < 20; ++i) {
            const auto p = test::make_sample(static_cast<std::uint8_t>(opcode), random, i & 1);
            const auto bytes = encode(*p);
            REQUIRE(bytes.size() == p->packet_bytes() + 2);
            CHECK(bytes.size() + 2 == p->wire_bytes);
            CHECK(has_good_invariant_crc(bytes));
            CHECK(has_good_variant_crc(bytes));
            const auto back = make_packet();
            REQUIRE(decode(bytes.data(), bytes.size(), *back) == nullptr);
            back->measure();
            CHECK(encode(*back) == bytes);
            CHECK(back->bth.psn == p->bth.psn);
            CHECK(back->payload.length == p->payload.length);
            const auto headless = make_packet();
            CHECK(decode(bytes.data(), bytes.size() - 6, *headless, false) == nullptr);
            CHECK(headless->payload.length == p->payload.length);
        }
    }
    CHECK(known == 23 + 12 + 2);  // RC, UC, UD
}

TEST_CASE("a corrupted packet has a wrong CRC") {
    std::mt19937_64 random(5);
    const auto p = test::make_sample(opcode_of(transport::rc, operation::write_only), random, false);
    p->corrupted = corruption::link;
    CHECK(has_good_invariant_crc(encode(*p)));
    CHECK_FALSE(has_good_variant_crc(encode(*p)));
    p->corrupted = corruption::payload;
    CHECK_FALSE(has_good_invariant_crc(encode(*p)));
    CHECK(has_good_variant_crc(encode(*p)));
}

TEST_CASE("bytes that are no packet are refused, whatever they are") {
    const auto p = make_packet();
    CHECK(decode(sample.data(), 10, *p) == std::string("it is too short"));
    auto raw = sample;
    raw[1] = 0x10;
    CHECK(decode(raw.data(), raw.size(), *p, false) == std::string("it is a raw packet"));
    auto longer = sample;
    longer.push_back(0);
    CHECK(decode(longer.data(), longer.size(), *p, false) ==
          std::string("its length is not that of its local route header"));
    std::mt19937_64 random(3);
    unsigned accepted = 0;
    for (unsigned i = 0; i < 200'000; ++i) {
        std::vector<std::uint8_t> bytes(random() % 200);
        for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
        if (bytes.size() >= 6 && random() & 1) {  // a good length takes it further
            bytes[4] = static_cast<std::uint8_t>((bytes.size() - 2) / 4 >> 8);
            bytes[5] = static_cast<std::uint8_t>((bytes.size() - 2) / 4);
        }
        const auto q = make_packet();
        if (!decode(bytes.data(), bytes.size(), *q)) {
            ++accepted;
            REQUIRE(q->packet_bytes() + 2 == bytes.size());
        }
    }
    CHECK(accepted > 100);
}
