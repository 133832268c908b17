// SPDX-License-Identifier: Apache-2.0
#include "network/wire.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <boost/crc.hpp>

namespace fabricvp::network {

namespace {

constexpr std::size_t lrh_bytes = 8, grh_bytes = 40, bth_bytes = 12, icrc_bytes = 4, vcrc_bytes = 2;
constexpr unsigned lnh_local = 2, lnh_global = 3;

/// Appends numbers, the highest byte first.
class writer {
public:
    explicit writer(std::vector<std::uint8_t>& to) : m_to(to) {}
    void put(std::uint64_t value, unsigned bytes) {
        for (unsigned i = bytes; i-- > 0;) m_to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    }
    void copy(const std::uint8_t* from, std::size_t bytes) { m_to.insert(m_to.end(), from, from + bytes); }

private:
    std::vector<std::uint8_t>& m_to;
};

class reader {
public:
    reader(const std::uint8_t* from, std::size_t size) : m_at(from), m_left(size) {}
    std::uint64_t get(unsigned bytes) {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < bytes; ++i) value = value << 8 | *m_at++;
        m_left -= bytes;
        return value;
    }
    void get(std::uint8_t* to, std::size_t bytes) {
        std::copy_n(m_at, bytes, to);
        m_at += bytes;
        m_left -= bytes;
    }
    std::size_t left() const { return m_left; }

private:
    const std::uint8_t* m_at;
    std::size_t m_left;
};

void put_lrh(writer& w, const packet& p) {
    const auto& h = p.lrh;
    w.put(static_cast<unsigned>(h.vl & 15) << 4 | (h.version & 15), 1);
    w.put(static_cast<unsigned>(h.sl & 15) << 4 | (h.global ? lnh_global : lnh_local), 1);
    w.put(h.dlid, 2);
    w.put(p.packet_bytes() / 4 & 0x7ff, 2);
    w.put(h.slid, 2);
}

void put_grh(writer& w, const packet& p) {
    const auto& h = p.grh;
    w.put(std::uint64_t{h.version & 15u} << 28 | std::uint64_t{h.traffic_class} << 20 | (h.flow_label & 0xfffff), 4);
    w.put(p.packet_bytes() - lrh_bytes - grh_bytes, 2);
    w.put(h.next_header, 1);
    w.put(h.hop_limit, 1);
    w.copy(h.source.data(), h.source.size());
    w.copy(h.destination.data(), h.destination.size());
}

void put_bth(writer& w, const base_transport_header& h) {
    w.put(h.opcode, 1);
    w.put((h.solicited ? 0x80u : 0) | (h.migrated ? 0x40u : 0) | (h.pad & 3u) << 4 | (h.version & 15u), 1);
    w.put(h.pkey, 2);
    w.put((h.fecn ? 0x80u : 0) | (h.becn ? 0x40u : 0), 1);
    w.put(h.destination_qp & 0xffffff, 3);
    w.put(h.ack_request ? 0x80 : 0, 1);
    w.put(h.psn & psn_mask, 3);
}

/// In the order in which they stand on the wire.
void put_extensions(writer& w, const packet& p) {
    const auto e = p.extensions();
    if (e & has_deth) {
        w.put(p.deth.qkey, 4);
        w.put(p.deth.source_qp & 0xffffff, 4);
    }
    if (e & has_reth) {
        w.put(p.reth.address, 8);
        w.put(p.reth.rkey, 4);
        w.put(p.reth.length, 4);
    }
    if (e & has_atomic) {
        w.put(p.atomic.address, 8);
        w.put(p.atomic.rkey, 4);
        w.put(p.atomic.swap_or_add, 8);
        w.put(p.atomic.compare, 8);
    }
    if (e & has_aeth) {
        w.put(p.aeth.syndrome, 1);
        w.put(p.aeth.msn & 0xffffff, 3);
    }
    if (e & has_atomic_ack) w.put(p.atomic_original, 8);
    if (e & has_immediate) w.put(p.immediate, 4);
    if (e & has_ieth) w.put(p.invalidated_rkey, 4);
}

void get_grh(reader& r, global_route_header& h) {
    const auto first = r.get(4);
    h.version = static_cast<std::uint8_t>(first >> 28);
    h.traffic_class = static_cast<std::uint8_t>(first >> 20);
    h.flow_label = first & 0xfffff;
    r.get(2);
    h.next_header = static_cast<std::uint8_t>(r.get(1));
    h.hop_limit = static_cast<std::uint8_t>(r.get(1));
    r.get(h.source.data(), h.source.size());
    r.get(h.destination.data(), h.destination.size());
}

void get_bth(reader& r, base_transport_header& h) {
    h.opcode = static_cast<std::uint8_t>(r.get(1));
    const auto flags = r.get(1);
    h.solicited = flags & 0x80;
    h.migrated = flags & 0x40;
    h.pad = flags >> 4 & 3;
    h.version = flags & 15;
    h.pkey = static_cast<std::uint16_t>(r.get(2));
    const auto congestion = r.get(1);
    h.fecn = congestion & 0x80;
    h.becn = congestion & 0x40;
    h.destination_qp = static_cast<std::uint32_t>(r.get(3));
    h.ack_request = r.get(1) & 0x80;
    h.psn = static_cast<std::uint32_t>(r.get(3));
}

void get_extensions(reader& r, packet& p) {
    const auto e = p.extensions();
    if (e & has_deth) {
        p.deth.qkey = static_cast<std::uint32_t>(r.get(4));
        p.deth.source_qp = r.get(4) & 0xffffff;
    }
    if (e & has_reth) {
        p.reth.address = r.get(8);
        p.reth.rkey = static_cast<std::uint32_t>(r.get(4));
        p.reth.length = static_cast<std::uint32_t>(r.get(4));
    }
    if (e & has_atomic) {
        p.atomic.address = r.get(8);
        p.atomic.rkey = static_cast<std::uint32_t>(r.get(4));
        p.atomic.swap_or_add = r.get(8);
        p.atomic.compare = r.get(8);
    }
    if (e & has_aeth) {
        p.aeth.syndrome = static_cast<std::uint8_t>(r.get(1));
        p.aeth.msn = static_cast<std::uint32_t>(r.get(3));
    }
    if (e & has_atomic_ack) p.atomic_original = r.get(8);
    if (e & has_immediate) p.immediate = static_cast<std::uint32_t>(r.get(4));
    if (e & has_ieth) p.invalidated_rkey = static_cast<std::uint32_t>(r.get(4));
}

std::uint32_t little_endian(const std::uint8_t* at, unsigned bytes) {
    std::uint32_t value = 0;
    for (unsigned i = bytes; i-- > 0;) value = value << 8 | at[i];
    return value;
}

}  // namespace

std::vector<std::uint8_t> encode(const packet& p) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(p.packet_bytes() + vcrc_bytes);
    writer w(bytes);
    put_lrh(w, p);
    if (p.lrh.global) put_grh(w, p);
    put_bth(w, p.bth);
    put_extensions(w, p);
    if (p.payload.length) w.copy(p.payload.data(), p.payload.length);
    w.put(0, p.bth.pad);
    auto icrc = invariant_crc(bytes.data(), bytes.size());
    if (p.corrupted == corruption::payload) icrc = ~icrc;
    for (unsigned i = 0; i < icrc_bytes; ++i) bytes.push_back(static_cast<std::uint8_t>(icrc >> 8 * i));
    auto vcrc = variant_crc(bytes.data(), bytes.size());
    if (p.corrupted == corruption::link) vcrc = static_cast<std::uint16_t>(~vcrc);
    for (unsigned i = 0; i < vcrc_bytes; ++i) bytes.push_back(static_cast<std::uint8_t>(vcrc >> 8 * i));
    return bytes;
}

const char* decode(const std::uint8_t* bytes, std::size_t size, packet& to, bool whole) {
    const auto crcs = whole ? icrc_bytes + vcrc_bytes : 0;
    if (size < lrh_bytes + bth_bytes + crcs) return "it is too short";
    reader r(bytes, size - crcs);
    auto& h = to.lrh;
    const auto first = r.get(1), second = r.get(1);
    h.vl = static_cast<std::uint8_t>(first >> 4);
    h.version = first & 15;
    h.sl = static_cast<std::uint8_t>(second >> 4);
    const auto next = second & 3;
    h.dlid = static_cast<std::uint16_t>(r.get(2));
    const auto words = r.get(2) & 0x7ff;
    h.slid = static_cast<std::uint16_t>(r.get(2));
    if (next < lnh_local) return "it is a raw packet";
    h.global = next == lnh_global;
    if (words * 4 != size - (whole ? vcrc_bytes : 0) + (whole ? 0 : icrc_bytes))
        return "its length is not that of its local route header";
    if (h.global) {
        if (r.left() < grh_bytes + bth_bytes) return "it is too short";
        get_grh(r, to.grh);
    }
    get_bth(r, to.bth);
    const auto extensions = to.extensions();
    if (!extensions) return "its operation code is reserved";
    if (r.left() < extension_bytes(extensions)) return "it is too short";
    get_extensions(r, to);
    if (r.left() < to.bth.pad) return "its pad count is more than there is";
    const auto payload = r.left() - to.bth.pad;
    if (payload && !(extensions & has_payload)) return "its operation code has no payload";
    if (payload) {
        to.payload = allocate_slice(payload);
        r.get(to.payload.data(), payload);
    } else {
        to.payload = {};
    }
    return nullptr;
}

std::uint32_t invariant_crc(const std::uint8_t* bytes, std::size_t size) {
    // What switches and routers may change counts as ones.
    boost::crc_optimal<32, 0x04C11DB7, 0xffffffff, 0xffffffff, true, true> crc;
    std::array<std::uint8_t, lrh_bytes + grh_bytes + bth_bytes> head{};
    const bool global = (bytes[1] & 3) == lnh_global;
    const auto bth = global ? lrh_bytes + grh_bytes : lrh_bytes;
    const auto length = std::min(bth + bth_bytes, size);
    std::copy_n(bytes, length, head.begin());
    if (global) {
        std::fill_n(head.begin(), lrh_bytes, std::uint8_t{0xff});
        head[8] |= 0x0f;                                       // traffic class
        std::fill_n(head.begin() + 9, 3, std::uint8_t{0xff});  // and flow label
        head[15] = 0xff;                                       // hop limit
    } else {
        head[0] |= 0xf0;  // virtual lane
    }
    head[bth + 4] = 0xff;  // FECN, BECN, reserved
    crc.process_bytes(head.data(), length);
    crc.process_bytes(bytes + length, size - length);
    return crc.checksum();
}

std::uint16_t variant_crc(const std::uint8_t* bytes, std::size_t size) {
    boost::crc_optimal<16, 0x100B, 0xffff, 0xffff, true, true> crc;
    crc.process_bytes(bytes, size);
    return static_cast<std::uint16_t>(crc.checksum());
}

bool has_good_invariant_crc(const std::vector<std::uint8_t>& whole) {
    if (whole.size() < lrh_bytes + bth_bytes + icrc_bytes + vcrc_bytes) return false;
    const auto size = whole.size() - vcrc_bytes - icrc_bytes;
    return invariant_crc(whole.data(), size) == little_endian(whole.data() + size, icrc_bytes);
}

bool has_good_variant_crc(const std::vector<std::uint8_t>& whole) {
    if (whole.size() < vcrc_bytes) return false;
    const auto size = whole.size() - vcrc_bytes;
    return variant_crc(whole.data(), size) == little_endian(whole.data() + size, vcrc_bytes);
}

}  // namespace fabricvp::network
