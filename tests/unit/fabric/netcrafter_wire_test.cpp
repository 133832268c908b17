// SPDX-License-Identifier: Apache-2.0
// What packets are on the link between clusters: byte by byte, there and back, and with every bit wrong once.
#include "unit/fabric/netcrafter_bench.h"

#include <set>

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

std::vector<std::uint8_t> bytes_of(const packet& p, const wire_header& h) {
    std::vector<std::uint8_t> b(p.bytes);
    serialise(p, h, b.data());
    return b;
}

}  // namespace

TEST_CASE("the layout is as documented") {
    sampler s;
    auto p = s.make(sample::read_sector, 0x2a5);
    p->line = 0x0003'0000'1234'5680;
    p->needed_sectors = 1 << 2;
    // ID 0x155 << 19 | destination 0x2a5 << 7 | a packet follows (1) << 5 | read request (1)
    const wire_header h{wire_type::read_request, follower::packet, 0x2a5, 0x155};
    CHECK(h.bits() == (0x155u << 19 | 0x2a5u << 7 | 1u << 5 | 1u));
    CHECK(bytes_of(*p, h) ==
          std::vector<std::uint8_t>{0xa1, 0x52, 0xa9, 0x0a, 0x80 | 0x20 | 1, 0x56, 0x34, 0x12, 0x00, 0x00, 0x03, 0x00});
    const auto back = wire_header::from(h.bits());
    CHECK(back.type == h.type);
    CHECK(back.next == h.next);
    CHECK(back.destination == h.destination);
    CHECK(back.id == h.id);
    // A response of one sector is a header and that sector.
    p = s.make(sample::sector);
    p->valid_sectors = 1 << 3;
    auto b = bytes_of(*p, {type_of(*p), follower::padding, 5, 0});
    CHECK((b[0] & 31) == 16 + 8);
    CHECK(b.size() == 20);
    CHECK(std::equal(b.begin() + 4, b.end(), p->data.begin() + 48));
    // An entry of a page table lies where an address would.
    p = s.make(sample::page_table_entry);
    b = bytes_of(*p, {type_of(*p), follower::padding, 5, 0});
    CHECK(b.size() == 12);
    CHECK(std::equal(b.begin() + 4, b.end(), p->data.begin() + p->offset));
    // That a walk is on the read critical path is bit 0 of a request's address, and a type of responses.
    for (const bool critical : {false, true}) {
        p = s.make(critical ? sample::critical_page_table : sample::page_table);
        b = bytes_of(*p, {type_of(*p), follower::padding, 5, 0});
        CHECK(b.size() == 12);
        CHECK((b[0] & 31) == 2);
        CHECK((b[4] & 7) == (critical ? 1 : 0));
        CHECK((b[4] & 0x38) == p->offset);
        p = s.make(critical ? sample::critical_page_table_entry : sample::page_table_entry);
        b = bytes_of(*p, {type_of(*p), follower::padding, 5, 0});
        CHECK((b[0] & 31) == (critical ? 11 : 9));
    }
    // Sub-headers: what follows, size / 4, ID.
    std::uint8_t sub[4];
    wire_format{16, 4}.put({follower::tail, 12, 0x1234}, sub);
    CHECK((sub[0] | sub[1] << 8 | sub[2] << 16 | sub[3] << 24) == (2 | 3 << 2 | 0x1234 << 8));
    wire_format{16, 2}.put({follower::packet, 4, 0x155}, sub);
    CHECK((sub[0] | sub[1] << 8) == (1 | 1 << 2 | 0x155 << 5));
}

TEST_CASE("sizes are the published ones") {
    sampler s;
    const auto size = [&](sample k) { return s.make(k)->bytes; };
    CHECK(size(sample::read) == 12);
    CHECK(size(sample::write) == 76);
    CHECK(size(sample::page_table) == 12);
    CHECK(size(sample::line) == 68);
    CHECK(size(sample::written) == 4);
    CHECK(size(sample::page_table_entry) == 12);
    CHECK(size(sample::sector) == 20);
    for (unsigned k = 0; k < samples; ++k) {
        const auto p = s.make(static_cast<sample>(k));
        CHECK(length_of(type_of(*p)) == p->bytes);
        CHECK(class_of(type_of(*p)) == p->type);
    }
}

TEST_CASE("every kind of packet comes back byte for byte, alone and cut in two, in flits of any size") {
    for (const unsigned flit : {8u, 16u, 32u})
        for (const unsigned width : {2u, 3u, 4u}) {
            packet_format f;
            f.flit = {flit};
            auto p = stitching();
            p.sub_header = {width};
            sampler s(f);
            for (unsigned k = 0; k < samples; ++k) {
                INFO(flit << " " << width << " " << k);
                stitching_link link(p, f);
                const auto one = s.make(static_cast<sample>(k));
                const auto before = contents_of(*one);
                link.push(one);
                auto u = link.next();
                REQUIRE(u);
                CHECK(u->used == one->bytes);
                auto out = link.take(*u);
                REQUIRE(out.size() == 1);
                CHECK(contents_of(*out[0]) == before);
                CHECK(link.sender.identifiers.held() == 0);
            }
        }
}

TEST_CASE("a line whose end rode ahead is put together again") {
    sampler s;
    for (const auto big : {sample::line, sample::sector, sample::three_sectors}) {
        stitching_link link(stitching());
        // A failed read has a header of 4 bytes: sub-header and end of the other, 8 bytes, ride in its 12 free bytes.
        const auto small = s.make(sample::failed_read), large = s.make(big);
        const auto first = contents_of(*small), second = contents_of(*large);
        auto u = netcrafter::make_wire_unit();
        link.push(small);
        link.sender.push(0, large, 0);
        auto one = link.next(), two = link.next();
        REQUIRE(one);
        REQUIRE(two);
        CHECK_FALSE(link.next());
        const auto& tail = one->parts.back();
        if (one->parts[0].record == small) {
            REQUIRE(one->parts.size() == 2);
            CHECK(tail.what == part_kind::tail);
            CHECK(tail.bytes == 4);
            CHECK(one->flits == 1);
            CHECK(two->flits == large->flits - 1);
            CHECK(two->used == two->length());
            auto out = link.take(*one);
            REQUIRE(out.size() == 1);
            CHECK(link.receiver.waiting() == 1);
            CHECK(contents_of(*out[0]) == first);
            out = link.take(*two);
            REQUIRE(out.size() == 1);
            CHECK(contents_of(*out[0]) == second);
        } else {  // the large one went first, and took the small one along
            FAIL("queues take turns from the fullest last flit on; the order has changed");
        }
        CHECK(link.receiver.waiting() == 0);
        CHECK(link.credits.left[1] == 1000);
        CHECK(link.sender.identifiers.held() == 0);
    }
}

namespace {

/// A sequence of units in which everything happens: packets of all types, riders, ends that ride ahead.
std::vector<std::vector<sample>> traffic() {
    std::vector<std::vector<sample>> all;
    for (unsigned k = 0; k < samples; ++k) all.push_back({static_cast<sample>(k)});
    all.push_back({sample::line, sample::read});
    all.push_back({sample::line, sample::page_table});
    all.push_back({sample::line, sample::line, sample::written});
    all.push_back({sample::line, sample::written, sample::written, sample::written, sample::failed_read});
    all.push_back({sample::written, sample::line, sample::sector, sample::atomic});
    all.push_back({sample::write, sample::written, sample::sector, sample::lock});
    return all;
}

struct delivery {
    std::vector<contents> packets;
    bool error = false;
    bool operator==(const delivery& o) const { return packets == o.packets && error == o.error; }
};

/// Sends the packets; flips one bit of one unit behind the link's check, unless `unit` is out of range.
delivery send(const std::vector<sample>& what, std::size_t unit, unsigned bit, unsigned width,
              std::vector<std::pair<unsigned, unsigned>>* sizes = nullptr) {
    auto p = stitching();
    p.sub_header = {width};
    sampler s;
    stitching_link link(p);
    for (const auto k : what) link.push(s.make(k, 5));
    delivery d;
    for (std::size_t n = 0; auto u = link.next(); ++n) {
        if (sizes) sizes->push_back({u->used, u->length()});
        if (n == unit) u->bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
        for (auto& part : u->parts)
            if (part.record) {
                const bool answer = is_response(part.record->type);
                part.record->data.fill(0xee);
                if (!answer) part.record->line = part.record->needed_sectors = part.record->offset = 0;
                part.record->operand = part.record->compare = 0xbad;
            }
        packet_list out;
        d.error |= link.receiver.take(*u, false, out) != nullptr;
        for (auto& q : out) d.packets.push_back(contents_of(*q));
    }
    CHECK(link.sender.identifiers.held() == 0);
    CHECK(link.receiver.waiting() == 0);
    CHECK(d.packets.size() == what.size());  // nothing vanishes, nothing comes twice, whatever was wrong
    return d;
}

}  // namespace

TEST_CASE("a wrong bit changes what is delivered or is an error, and in padding is nothing") {
    unsigned flipped = 0, padding = 0, errors = 0;
    for (const unsigned width : {2u, 4u})
        for (const auto& what : traffic()) {
            std::vector<std::pair<unsigned, unsigned>> sizes;
            const auto right = send(what, ~0u, 0, width, &sizes);
            REQUIRE_FALSE(right.error);
            for (std::size_t unit = 0; unit < sizes.size(); ++unit)
                for (unsigned bit = 0; bit < 8 * sizes[unit].second; ++bit) {
                    const auto wrong = send(what, unit, bit, width);
                    const bool pad = bit >= 8 * sizes[unit].first;
                    if ((wrong == right) != pad)
                        FAIL("unit " << unit << " of " << sizes.size() << ", bit " << bit << ", padding " << pad
                                     << ", first " << static_cast<int>(what[0]));
                    (pad ? padding : flipped) += 1;
                    errors += wrong.error;
                }
        }
    CHECK(flipped > 10000);
    CHECK(padding > 1000);
    CHECK(errors > 1000);
}

TEST_CASE("what a broken unit carried goes on poisoned, with its end that came before or is still to come") {
    sampler s;
    const auto pair = [&](unsigned broken, bool corrupted) {
        stitching_link link(stitching());
        link.push(s.make(sample::failed_read, 7));
        link.push(s.make(sample::line, 7));
        std::map<packet_class, access_status> heard;
        unsigned n = 0;
        std::set<unsigned> destinations;
        while (auto u = link.next()) {
            packet_list out;
            const bool this_one = n++ == broken;
            if (this_one && !corrupted) u->bytes[0] ^= 0x1f;
            link.receiver.take(*u, this_one && corrupted, out);
            for (auto& p : out) {
                heard[p->bytes == 4 ? packet_class::write_response : packet_class::read_response] = p->status;
                destinations.insert(p->destination);
            }
        }
        CHECK(n == 2);
        CHECK(heard.size() == 2);
        CHECK(link.receiver.waiting() == 0);
        CHECK(link.sender.identifiers.held() == 0);
        return heard[packet_class::read_response];
    };
    for (const bool corrupted : {false, true}) {
        CHECK(pair(0, corrupted) == access_status::poisoned);  // its end was in there
        CHECK(pair(1, corrupted) == access_status::poisoned);
        CHECK(pair(2, corrupted) == access_status::ok);
    }
}
