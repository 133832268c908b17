// SPDX-License-Identifier: Apache-2.0
#include "fabric/netcrafter/unstitcher.h"

#include <algorithm>
#include <cstring>

#include <boost/endian/conversion.hpp>

namespace fabricvp::fabric::netcrafter {

namespace {

wire_header header_at(const std::uint8_t* bytes) { return wire_header::from(boost::endian::load_little_u32(bytes)); }

}  // namespace

unsigned unstitcher::destination_of(const wire_unit& u) const {
    const auto d = header_at(u.bytes.data()).destination;
    return m_known[d] ? d : destinations;
}

std::vector<unstitcher::tail>::iterator unstitcher::find(std::uint16_t id) {
    return std::find_if(m_tails.begin(), m_tails.end(), [&](const tail& t) { return t.id == id; });
}

/// The side record that came with the unit for an ID, once.
wire_unit::part* unstitcher::part_of(wire_unit& u, std::uint16_t id, bool end) {
    for (std::size_t i = 0; i < u.parts.size(); ++i)
        if (u.parts[i].id == id && (u.parts[i].what == wire_unit::part_kind::tail) == end && !(m_seen >> i & 1)) {
            m_seen |= 1u << i;
            return &u.parts[i];
        }
    return nullptr;
}

const char* unstitcher::parse_packet(wire_unit& u, unsigned& at, follower& next) {
    if (at + header_bytes > u.length()) return "a header goes beyond the last flit";
    const auto* bytes = u.bytes.data() + at;
    const auto h = header_at(bytes);
    const auto length = length_of(h.type);
    if (length == 0) return "a header has no type";
    if (!m_known[h.destination]) return "a packet has no destination";
    const auto* part = part_of(u, h.id, false);
    if (!part) return "a packet has no side record";
    if (m_format.flits(length) != part->flits ||
        channel_of(class_of(h.type), m_format.page_table_channels) != part->channel)
        return "a packet takes other buffers than it has credits for";
    auto here = length;
    const auto end = find(h.id);
    if (end != m_tails.end()) {
        if (end->size != length - (part->flits - 1u) * m_format.payload())
            return "the end of a packet does not fit the rest";
        here -= end->size;
    }
    if (at + here > u.length()) return "a packet goes beyond the last flit";
    if (end != m_tails.end()) {
        std::memcpy(m_joined.data(), bytes, here);
        std::memcpy(m_joined.data() + here, end->bytes.data(), end->size);
        bytes = m_joined.data();
    }
    if (!address_makes_sense(h.type, bytes)) return "an address has bits that mean nothing";
    m_items.push_back({static_cast<std::size_t>(part - u.parts.data()), bytes, h});
    at += here;
    next = h.next;
    return nullptr;
}

const char* unstitcher::parse_tail(wire_unit& u, unsigned& at, follower& next) {
    const unsigned width = u.format.sub_header;
    if (at + width > u.length()) return "a sub-header goes beyond the last flit";
    wire_sub_header h{};
    if (!u.format.get(u.bytes.data() + at, h) || h.size == 0) return "a sub-header makes no sense";
    at += width;
    if (!part_of(u, h.id, true) || find(h.id) != m_tails.end()) return "the end of a packet belongs to none";
    if (at + h.size > u.length() || h.size > max_packet_bytes) return "the end of a packet goes beyond the last flit";
    m_new_tails.push_back({h.id, h.size, false, {}});
    std::memcpy(m_new_tails.back().bytes.data(), u.bytes.data() + at, h.size);
    at += h.size;
    next = h.next;
    return nullptr;
}

const char* unstitcher::parse(wire_unit& u) {
    m_items.clear();
    m_new_tails.clear();
    m_seen = 0;
    unsigned at = 0;
    for (auto next = follower::packet; next != follower::padding;) {
        if (next != follower::packet && next != follower::tail) return "nothing of the kind can follow a packet";
        if (const auto* wrong = next == follower::packet ? parse_packet(u, at, next) : parse_tail(u, at, next))
            return wrong;
    }
    if (at + m_format.payload() <= u.length()) return "a flit is padding throughout";
    if (m_seen != (1u << u.parts.size()) - 1) return "a packet is missing";
    return nullptr;
}

const char* unstitcher::take(wire_unit& u, bool corrupted, packet_list& complete) {
    const auto* wrong = parse(u);
    if (wrong) {
        fail(u, complete);
        return wrong;
    }
    for (const auto& i : m_items) {
        auto& part = u.parts[i.part];
        const auto end = part.what == wire_unit::part_kind::body ? find(part.id) : m_tails.end();
        restore(*part.record, m_format, i.header, i.bytes);
        if (corrupted || (end != m_tails.end() && end->corrupted)) part.record->status = access_status::poisoned;
        if (end != m_tails.end()) m_tails.erase(end);
        complete.push_back(std::move(part.record));
    }
    for (auto& t : m_new_tails) {
        t.corrupted = corrupted;
        m_tails.push_back(t);
    }
    return nullptr;
}

/// What the side records say goes on in the place of the packets, poisoned, so that their requesters hear of it.
void unstitcher::fail(wire_unit& u, packet_list& complete) {
    for (auto& part : u.parts) {
        const auto end = find(part.id);
        if (end != m_tails.end()) m_tails.erase(end);
        if (part.what == wire_unit::part_kind::tail) {
            m_tails.push_back({part.id, part.bytes, true, {}});
            continue;
        }
        part.record->status = access_status::poisoned;
        complete.push_back(std::move(part.record));
    }
}

}  // namespace fabricvp::fabric::netcrafter
