// SPDX-License-Identifier: Apache-2.0
// Packets of every kind, and the two ends of a link between clusters without the link: what leaves one stitcher is
// taken apart at the other end at once.
#pragma once

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <vector>

#include "fabric/netcrafter/stitcher.h"
#include "fabric/netcrafter/unstitcher.h"

namespace fabricvp::test {

using namespace fabricvp::fabric;
using netcrafter::cluster_queue;
using netcrafter::pooling_mode;
using netcrafter::queue_reserve;
using netcrafter::sequencing_mode;
using netcrafter::stitcher;
using netcrafter::unstitcher;
using netcrafter::window_start;
using netcrafter::wire_unit;
using part_kind = netcrafter::wire_unit::part_kind;

/// One packet of each type that the wire knows.
enum class sample {
    read,
    read_sector,
    read_sectors,
    page_table,
    write,
    atomic,
    compare_swap,
    operands,
    lock,
    reserve,  // requests
    line,
    sector,
    two_sectors,
    three_sectors,
    failed_read,
    value,
    failed_value,
    old_values,
    written,
    page_table_entry,  // responses
    // Of walks on the read critical path: a request, and a response.
    critical_page_table,
    critical_page_table_entry
};
inline constexpr unsigned samples = 22;

struct sampler {
    packet_format format;
    std::mt19937_64 random{7};
    std::uint32_t tag = 0;

    explicit sampler(const packet_format& f = {}) : format(f) {}

    packet_ptr make(sample s, unsigned destination = 5) {
        const auto p = make_packet();
        for (auto& b : p->data) b = static_cast<std::uint8_t>(random());
        p->tag = tag++;
        p->source = 1;
        p->destination = static_cast<std::uint16_t>(destination);
        p->line = random() & ~std::uint64_t{63};
        p->operand = random();
        p->compare = random();
        const auto request = [&](access_kind kind, bool walk, unsigned operands) {
            p->kind = kind;
            p->set_request(format, walk, operands);
        };
        const auto response = [&](access_kind kind, bool walk, unsigned sectors,
                                  access_status status = access_status::ok) {
            p->kind = kind;
            p->set_request(format, walk, p->operands ? line_bytes : kind == access_kind::atomic ? 8 : 0);
            p->status = status;
            p->valid_sectors = static_cast<std::uint8_t>(sectors);
            std::swap(p->source, p->destination);
            p->make_response(format);
        };
        switch (s) {
            case sample::read: request(access_kind::read, false, 0); break;
            case sample::read_sector:
                p->needed_sectors = static_cast<std::uint8_t>(1u << random() % 4);
                request(access_kind::read, false, 0);
                break;
            case sample::read_sectors:
                p->sectored = true;
                p->needed_sectors = 0x6;
                request(access_kind::read, false, 0);
                break;
            case sample::critical_page_table: p->read_critical = true; [[fallthrough]];
            case sample::page_table:
                p->offset = static_cast<std::uint8_t>(random() % 8 * 8);
                request(access_kind::read, true, 0);
                break;
            case sample::write:
                p->byte_mask = random();
                request(access_kind::write, false, 0);
                break;
            case sample::atomic:
                p->offset = static_cast<std::uint8_t>(random() % 16 * 4);
                request(access_kind::atomic, false, 8);
                break;
            case sample::compare_swap: request(access_kind::atomic, false, 16); break;
            case sample::operands:
                p->operands = 5;
                p->byte_mask = random();
                request(access_kind::atomic, false, line_bytes);
                break;
            case sample::lock: request(access_kind::lock, false, 0); break;
            case sample::reserve:
                p->offset = static_cast<std::uint8_t>(random() % 16 * 4);
                request(access_kind::load_reserved, false, 0);
                break;
            case sample::line: response(access_kind::read, false, 0xf); break;
            case sample::sector: response(access_kind::read, false, 1u << random() % 4); break;
            case sample::two_sectors: response(access_kind::read, false, 0x9); break;
            case sample::three_sectors: response(access_kind::read, false, 0xe); break;
            case sample::failed_read: response(access_kind::read, false, 0, access_status::refused); break;
            case sample::value: response(access_kind::atomic, false, 0); break;
            case sample::failed_value: response(access_kind::atomic, false, 0, access_status::refused); break;
            case sample::old_values:
                p->operands = 5;
                response(access_kind::atomic, false, 0x7);
                break;
            case sample::written: response(access_kind::write, false, 0); break;
            case sample::critical_page_table_entry: p->read_critical = true; [[fallthrough]];
            case sample::page_table_entry:
                p->offset = static_cast<std::uint8_t>(random() % 8 * 8);
                response(access_kind::read, true, 1u << p->offset / 16);
                break;
        }
        return p;
    }
};

/// What a packet says to its receiver, as far as the wire carries it.
struct contents {
    packet_class type;
    access_kind kind;
    unsigned source, destination, bytes, needed, valid, offset;
    access_status status;
    bool read_critical;
    std::uint32_t tag;
    std::uint64_t line, operand, compare;
    std::vector<std::uint8_t> data;
    bool operator==(const contents& o) const {
        const auto all = [](const contents& c) {
            return std::tie(c.type, c.kind, c.source, c.destination, c.bytes, c.needed, c.valid, c.offset, c.status,
                            c.read_critical, c.tag, c.line, c.operand, c.compare, c.data);
        };
        return all(*this) == all(o);
    }
};

inline contents contents_of(const packet& p) {
    contents c{p.type, p.kind, p.source, p.destination, p.bytes, 0, p.valid_sectors, 0, p.status, false, p.tag, p.line,
               0,      0,      {}};
    const auto t = type_of(p);
    if (t == wire_type::read_request)
        c.needed = p.needed_sectors;
    else if (t != wire_type::write_line && t != wire_type::write_bare)
        c.offset = p.offset;
    if (p.type == packet_class::page_table_request || p.type == packet_class::page_table_response)
        c.read_critical = p.read_critical;
    if (t == wire_type::write_8 || t == wire_type::write_16 || t == wire_type::value_response) c.operand = p.operand;
    if (t == wire_type::write_16) c.compare = p.compare;
    if (t == wire_type::write_line) c.data.assign(p.data.begin(), p.data.end());
    if (p.type == packet_class::page_table_response)
        c.data.assign(p.data.begin() + p.offset / 8 * 8, p.data.begin() + p.offset / 8 * 8 + 8);
    if (p.type == packet_class::read_response && (p.kind == access_kind::read || p.operands))
        for (unsigned i = 0; i < line_bytes; ++i)
            if (p.valid_sectors >> i / 16 & 1) c.data.push_back(p.data[i]);
    return c;
}

/// Overwrites what the wire carries, so that nothing but the wire can bring it back.
inline void splitmix64(packet& p, const packet_format& f) {
    const bool of_response = is_response(p.type);
    p.type = packet_class::write_response;
    p.destination = 0x3ff;
    p.set_bytes(f, 4);
    p.data.fill(0xee);
    p.valid_sectors = 0;
    p.read_critical = false;
    if (!of_response) {  // of a response, the requester knows these
        p.line = 0xbadbadbad;
        p.needed_sectors = 0;
        p.offset = 1;
    }
    p.operand = p.compare = 0xbad;
}

struct counted_credits final : netcrafter::link_credits {
    std::array<unsigned, virtual_channels> left{1000, 1000, 0, 0};
    unsigned calls = 0;
    bool covers(virtual_channel c, unsigned flits) const override { return left[static_cast<unsigned>(c)] >= flits; }
    bool request_credits(virtual_channel c, unsigned flits) override {
        if (covers(c, flits)) return true;
        ++calls;
        return false;
    }
    void take(virtual_channel c, unsigned flits) override {
        REQUIRE(covers(c, flits));
        left[static_cast<unsigned>(c)] -= flits;
    }
};

/// A stitcher and the far end.
struct stitching_link {
    packet_format format;
    stitcher sender;
    unstitcher receiver;
    counted_credits credits;
    std::vector<netcrafter::wire_unit_ptr> flown;

    explicit stitching_link(const netcrafter::parameters& p, const packet_format& f = {}, ticks window = 32'000,
                            unsigned clusters = 1)
        : format(f), sender(p, f, window), receiver(f) {
        for (unsigned c = 0; c < clusters; ++c) sender.queue.add_destination();
        for (unsigned t = 0; t < 64; ++t) receiver.add_destination(t);
    }
    void push(const packet_ptr& p, ticks now = 0, unsigned cluster = 0) {
        REQUIRE(sender.queue.has_room(cluster, p->channel(), p->flits));
        sender.push(cluster, p, now);
    }
    /// The next unit; null if nothing may go.
    netcrafter::wire_unit_ptr next(ticks now = 0) {
        auto u = netcrafter::make_wire_unit();
        if (!sender.next(now, credits, *u)) return nullptr;
        return u;
    }
    /// Takes it apart, and gives the credits back.
    std::vector<packet_ptr> take(wire_unit& u, bool corrupted = false, const char* expected = nullptr) {
        for (auto& part : u.parts)
            if (part.record) splitmix64(*part.record, format);
        packet_list out;
        const char* wrong = receiver.take(u, corrupted, out);
        if (expected) {
            REQUIRE(wrong != nullptr);
            CHECK(std::string(wrong) == expected);
        } else {
            INFO((wrong ? wrong : ""));
            REQUIRE(wrong == nullptr);
        }
        for (auto& p : out) credits.left[static_cast<unsigned>(p->channel())] += p->flits;
        return {out.begin(), out.end()};
    }
};

inline netcrafter::parameters stitching(bool partial = true) {
    netcrafter::parameters p;
    p.stitching = true;
    p.partial = partial;
    return p;
}

}  // namespace fabricvp::test
