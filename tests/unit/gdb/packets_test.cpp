// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "platform/gdb/csr_names.h"
#include "platform/gdb/field_reader.h"
#include "platform/gdb/hex.h"
#include "platform/gdb/packet_parser.h"

using namespace fabricvp::gdb;

namespace {

/// Events of a byte sequence; payloads of packets are appended to `payloads`.
std::vector<packet_event> feed(packet_parser& p, std::string_view bytes, std::vector<std::string>& payloads) {
    std::vector<packet_event> events;
    for (const char c : bytes)
        if (const auto e = p.feed(c)) {
            events.push_back(*e);
            if (*e == packet_event::packet) payloads.push_back(p.payload());
        }
    return events;
}

}  // namespace

TEST_CASE("packets are framed with a checksum") {
    CHECK(encode_packet("OK") == "$OK#9a");
    CHECK(encode_packet("") == "$#00");
    CHECK(encode_packet("a}b$c#d*") == std::string("$a}]b}\x04"
                                                   "c}\x03"
                                                   "d}\x0a#ec"));
}

TEST_CASE("what is encoded is parsed back") {
    packet_parser parser;
    std::vector<std::string> payloads;
    std::string every;
    for (int i = 0; i < 256; ++i) every.push_back(static_cast<char>(i));
    CHECK(feed(parser, encode_packet(every) + encode_packet("") + "+", payloads) ==
          std::vector{packet_event::packet, packet_event::packet, packet_event::acknowledge});
    CHECK(payloads == std::vector<std::string>{every, ""});
}

TEST_CASE("corrupted packets are told apart and do not disturb the next one") {
    packet_parser parser;
    std::vector<std::string> payloads;
    const auto bad = std::vector{packet_event::bad_packet, packet_event::packet};
    SECTION("wrong checksum") { CHECK(feed(parser, "$g#00$g#67", payloads) == bad); }
    SECTION("checksum without digits") { CHECK(feed(parser, "$g#xy$g#67", payloads) == bad); }
    SECTION("escape without a byte") { CHECK(feed(parser, "$g}#00$g#67", payloads) == bad); }
    SECTION("too long") {
        const std::string big(packet_parser::max_payload + 1, 'a');
        CHECK(feed(parser, encode_packet(big) + "$g#67", payloads) == bad);
    }
    SECTION("cut off by the next one") {
        CHECK(feed(parser, "$m800$g#67", payloads) == std::vector{packet_event::packet});
        CHECK(feed(parser, "$m800#1$g#67", payloads) == std::vector{packet_event::packet});
    }
    CHECK(payloads.back() == "g");
}

TEST_CASE("the longest packet is taken") {
    packet_parser parser;
    std::vector<std::string> payloads;
    const std::string longest(packet_parser::max_payload, 'a');
    CHECK(feed(parser, encode_packet(longest), payloads) == std::vector{packet_event::packet});
    CHECK(payloads.back() == longest);
}

TEST_CASE("the interrupt byte counts between packets only") {
    packet_parser parser;
    std::vector<std::string> payloads;
    CHECK(feed(parser, std::string_view("\x03-+junk"), payloads) ==
          std::vector{packet_event::interrupt, packet_event::retransmit, packet_event::acknowledge});
    CHECK(feed(parser, encode_packet("X0,1:\x03"), payloads) == std::vector{packet_event::packet});
    CHECK(payloads.back() == "X0,1:\x03");
}

TEST_CASE("hexadecimal text") {
    std::string bytes;
    std::uint64_t value = 0;
    CHECK(to_hex(std::string_view("\x00\xff\x7f", 3)) == "00ff7f");
    CHECK(from_hex("00fF7f", bytes));
    CHECK(bytes == std::string("\x00\xff\x7f", 3));
    CHECK_FALSE(from_hex("0", bytes));
    CHECK_FALSE(from_hex("0g", bytes));
    CHECK(hex_little_endian(0x1122334455667788, 8) == "8877665544332211");
    CHECK(hex_little_endian(0x12, 4) == "12000000");
    CHECK(parse_little_endian("8877665544332211", value));
    CHECK(value == 0x1122334455667788);
    CHECK_FALSE(parse_little_endian("", value));
    CHECK_FALSE(parse_little_endian("887766554433221100", value));
}

TEST_CASE("fields are read from the left, or not at all") {
    std::uint64_t n = 0;
    thread_id id;
    field_reader f("80000000,4:p1.2;p3.-1;-1;zz");
    CHECK(f.number(n));
    CHECK(n == 0x80000000);
    CHECK_FALSE(f.number(n));
    CHECK(f.take(','));
    CHECK(f.number(n));
    CHECK(f.take(':'));
    CHECK(f.thread(id));
    CHECK((id.process == 1 && id.thread == 2));
    CHECK(f.take(';'));
    CHECK(f.thread(id));
    CHECK((id.process == 3 && id.thread == thread_id::all));
    CHECK(f.take(';'));
    CHECK(f.thread(id));
    CHECK((id.process == thread_id::any && id.thread == thread_id::all));
    CHECK(f.take(';'));
    CHECK_FALSE(f.thread(id));
    CHECK(f.rest() == "zz");
    CHECK_FALSE(field_reader("12345678123456789").number(n));
    CHECK(field_reader("ffffffffffffffff").number(n));
    CHECK_FALSE(field_reader("p1.").thread(id));
    CHECK_FALSE(field_reader("p").thread(id));
    CHECK_FALSE(field_reader("100000000").thread(id));
    CHECK_FALSE(field_reader("").thread(id));
}

TEST_CASE("control and status registers have their names from the specification") {
    CHECK(csr_name(0x300) == "mstatus");
    CHECK(csr_name(0x180) == "satp");
    CHECK(csr_name(0x14d) == "stimecmp");
    CHECK(csr_name(0x3a0) == "pmpcfg0");
    CHECK(csr_name(0x3bf) == "pmpaddr15");
    CHECK(csr_name(0xb03) == "mhpmcounter3");
    CHECK(csr_name(0xfb0) == "mtopi");
    CHECK(csr_name(0x7c0) == "csr1984");
}
