// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/coalescer.h"

#include <algorithm>
#include <cstring>

namespace fabricvp::gpu {

namespace {

constexpr std::uint64_t line_mask = ~std::uint64_t{line_bytes - 1};

std::uint64_t bytes_at(std::uint64_t address, unsigned bytes) {
    return ((std::uint64_t{1} << bytes) - 1) << (address & (line_bytes - 1));
}

/// By lane: a table, since a loop that shifts by the lane's number does not become one over vectors.
constexpr auto lane_bits = [] {
    std::array<lane_mask, wavefront_lanes> bits{};
    for (unsigned i = 0; i < wavefront_lanes; ++i) bits[i] = lane_mask{1} << i;
    return bits;
}();

/// Whether every lane of the mask accesses the element that lies `bytes` behind that of the lane before, from `origin`
/// on.
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
bool follows(const std::uint64_t* address, lane_mask mask, std::uint64_t origin, std::uint64_t bytes) {
    std::uint64_t differs = 0, expected = origin;
    if (mask == ~lane_mask{0}) {
        for (unsigned i = 0; i < wavefront_lanes; ++i, expected += bytes) differs |= address[i] ^ expected;
    } else {
        for (unsigned i = 0; i < wavefront_lanes; ++i, expected += bytes) {
            const std::uint64_t difference = address[i] ^ expected;
            differs |= mask & lane_bits[i] ? difference : 0;
        }
    }
    return differs == 0;
}

/// Whether every lane of the mask accesses the element that lies as far behind the first one's as its number says.
bool is_sequence(const vector_access& a) {
    const auto first = static_cast<unsigned>(__builtin_ctzll(a.mask)),
               last = 63 - static_cast<unsigned>(__builtin_clzll(a.mask));
    if (first == last) return true;
    if (a.address[last] - a.address[first] != std::uint64_t{last - first} * a.size) return false;
    return follows(a.address.data(), a.mask, a.address[first] - std::uint64_t{first} * a.size, a.size);
}

/// Whether all lanes of the mask access one element, as loads of kernel arguments do.
bool is_uniform(const vector_access& a, lane_mask mask) {
    const auto first = a.address[static_cast<unsigned>(__builtin_ctzll(mask))];
    return a.address[63 - static_cast<unsigned>(__builtin_clzll(mask))] == first &&
           follows(a.address.data(), mask, first, 0);
}

/// Lanes first…last of a sequence, those between that take no part included: what they get or give is masked elsewhere.
struct stretch {
    unsigned first, count;
    explicit stretch(lane_mask lanes)
        : first(static_cast<unsigned>(__builtin_ctzll(lanes))),
          count(64 - static_cast<unsigned>(__builtin_clzll(lanes)) - first) {}
};

template <class Word>
void scatter_sequence(vector_access& a, lane_mask lanes, const std::uint8_t* line) {
    const stretch s(lanes);
    const std::uint8_t* from = line + (a.address[s.first] & (line_bytes - 1));
    std::uint64_t* to = &a.data[s.first];
    for (unsigned i = 0; i < s.count; ++i) {
        Word w;
        std::memcpy(&w, from + i * sizeof w, sizeof w);
        to[i] = w;
    }
}

template <class Word>
void gather_sequence(const vector_access& a, lane_mask lanes, std::uint8_t* line) {
    const stretch s(lanes);
    std::uint8_t* to = line + (a.address[s.first] & (line_bytes - 1));
    const std::uint64_t* from = &a.data[s.first];
    for (unsigned i = 0; i < s.count; ++i) {
        const auto w = static_cast<Word>(from[i]);
        std::memcpy(to + i * sizeof w, &w, sizeof w);
    }
}

template <class Word>
void scatter_words(vector_access& a, lane_mask lanes, const std::uint8_t* line) {
    if (a.sequence) return scatter_sequence<Word>(a, lanes, line);
    if (lanes == a.mask && is_uniform(a, lanes)) {
        const stretch s(lanes);
        Word w;
        std::memcpy(&w, line + (a.address[s.first] & (line_bytes - 1)), sizeof w);
        std::fill_n(&a.data[s.first], s.count, w);
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctzll(lanes));
        Word w;
        std::memcpy(&w, line + (a.address[i] & (line_bytes - 1)), sizeof w);
        a.data[i] = w;
    }
}

template <class Word>
void gather_words(const vector_access& a, lane_mask lanes, std::uint8_t* line) {
    if (a.sequence) return gather_sequence<Word>(a, lanes, line);
    for (; lanes; lanes &= lanes - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctzll(lanes));
        const auto w = static_cast<Word>(a.data[i]);
        std::memcpy(line + (a.address[i] & (line_bytes - 1)), &w, sizeof w);
    }
}

}  // namespace

unsigned coalescer::split_sequence(const vector_access& a, transactions& to) {
    unsigned count = 0;
    for (lane_mask rest = a.mask; rest;) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
        const std::uint64_t first = a.address[lane], line = first & line_mask;
        const auto room = static_cast<unsigned>((line + line_bytes - first) / a.size);
        const unsigned lanes = std::min(room, wavefront_lanes - lane), bytes = lanes * a.size;
        const lane_mask reach = (lanes == 64 ? ~lane_mask{0} : (lane_mask{1} << lanes) - 1) << lane, own = rest & reach;
        std::uint64_t covered = bytes_of(0, bytes);
        if (own != reach) {
            const std::uint64_t element = (std::uint64_t{1} << a.size) - 1;
            covered = 0;
            for (lane_mask left = own >> lane; left; left &= left - 1)
                covered |= element << static_cast<unsigned>(__builtin_ctzll(left)) * a.size;
        }
        to[count++] = {line, own, covered << (first - line)};
        rest &= ~reach;
    }
    return count;
}

void coalescer::begin_round() {
    m_round += 256;
    if (m_round) return;
    m_table.fill(0);
    m_round = 256;
}

/// Where the table has the line's piece in this round, or would have it.
std::uint32_t& coalescer::slot_of(std::uint64_t line, const transactions& to) {
    auto slot = static_cast<unsigned>((line * 0x9e3779b97f4a7c15u) >> 57);
    for (;; slot = (slot + 1) % slots) {
        const auto there = m_table[slot];
        if ((there & ~0xffu) != m_round || to[there & 0xff].line == line) return m_table[slot];
    }
}

unsigned coalescer::split(vector_access& a, transactions& to) {
    a.sequence = false;
    if (!a.mask) return 0;
    a.sequence = is_sequence(a);
    if (a.sequence) return split_sequence(a, to);
    if (is_uniform(a, a.mask)) {
        const auto address = a.address[static_cast<unsigned>(__builtin_ctzll(a.mask))];
        to[0] = {address & line_mask, a.mask, bytes_at(address, a.size)};
        return 1;
    }
    begin_round();
    // Copies, since what is written below could be they.
    const std::uint64_t* const addresses = a.address.data();
    const std::uint64_t element = bytes_at(0, a.size);
    const std::uint32_t round = m_round;
    unsigned count = 0;
    access_transaction* last = nullptr;
    for (lane_mask rest = a.mask; rest; rest &= rest - 1) {
        const std::uint64_t address = addresses[static_cast<unsigned>(__builtin_ctzll(rest))],
                            line = address & line_mask, bytes = element << (address & (line_bytes - 1));
        const lane_mask lane = rest & (~rest + 1);
        if (!last || last->line != line) {
            auto& slot = slot_of(line, to);
            if ((slot & ~0xffu) != round) {
                slot = round | count;
                last = &to[count++];
                *last = {line, lane, bytes};
                continue;
            }
            last = &to[slot & 0xff];
        }
        last->lanes |= lane;
        last->bytes |= bytes;
    }
    return count;
}

unsigned coalescer::split_lanes(vector_access& a, transactions& to) {
    a.sequence = false;
    unsigned count = 0;
    for (lane_mask rest = a.mask; rest; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
        to[count++] = {a.address[i] & line_mask, lane_mask{1} << i, bytes_at(a.address[i], a.size)};
    }
    return count;
}

unsigned coalescer::split_atomics(vector_access& a, transactions& to) {
    a.sequence = is_sequence(a);
    if (a.sequence) return split_sequence(a, to);
    begin_round();
    constexpr std::uint8_t none = 0xff;
    std::array<std::uint8_t, wavefront_lanes> next;  // piece of the same line that was made behind this one
    unsigned count = 0, last = 0;
    std::uint64_t word = ~std::uint64_t{0};  // that `last` has in its newest piece
    for (lane_mask rest = a.mask; rest; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
        const std::uint64_t address = a.address[i], line = address & line_mask, bytes = bytes_at(address, a.size);
        unsigned piece;
        if (address == word) {  // where many lanes want one word, all pieces before this one have it
            piece = next[last];
        } else {
            auto& slot = slot_of(line, to);
            const bool known = (slot & ~0xffu) == m_round;
            if (!known) slot = m_round | count;
            piece = known ? slot & 0xff : none;
            if (!known) last = wavefront_lanes;
        }
        while (piece != none && to[piece].bytes & bytes) {
            last = piece;
            piece = next[piece];
        }
        if (piece == none) {
            piece = count++;
            if (last != wavefront_lanes) next[last] = static_cast<std::uint8_t>(piece);
            next[piece] = none;
            to[piece] = {line, 0, 0};
        }
        to[piece].lanes |= lane_mask{1} << i;
        to[piece].bytes |= bytes;
        last = piece;
        word = address;
    }
    return count;
}

unsigned coalescer::split_by_lane(vector_access& a, transactions& to, unsigned transaction, unsigned total) {
    const std::uint64_t line = to[transaction].line;
    unsigned next = transaction;
    for (lane_mask rest = to[transaction].lanes; rest; rest &= rest - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctzll(rest));
        to[next] = {line, lane_mask{1} << i, bytes_at(a.address[i], a.size)};
        next = total++;
    }
    return total - 1;
}

namespace {

/// The only lane of a transaction, whose bytes tell where in the line its element lies, so that its address need not
/// be looked at; or none, where there are several.
struct only_lane {
    explicit only_lane(const access_transaction& t)
        : alone((t.lanes & (t.lanes - 1)) == 0),
          lane(static_cast<unsigned>(__builtin_ctzll(t.lanes))),
          offset(static_cast<unsigned>(__builtin_ctzll(t.bytes))) {}
    bool alone;
    unsigned lane, offset;
};

}  // namespace

void coalescer::scatter(vector_access& a, const access_transaction& transaction, const std::uint8_t* line) {
    if (const only_lane one(transaction); one.alone) {
        std::uint64_t word = 0;
        std::memcpy(&word, line + (one.offset & ~7u), sizeof word);
        a.data[one.lane] = word >> (one.offset & 7) * 8 & (~std::uint64_t{0} >> (64 - 8 * a.size));
        return;
    }
    switch (a.size) {
        case 1: return scatter_words<std::uint8_t>(a, transaction.lanes, line);
        case 2: return scatter_words<std::uint16_t>(a, transaction.lanes, line);
        case 4: return scatter_words<std::uint32_t>(a, transaction.lanes, line);
        default: return scatter_words<std::uint64_t>(a, transaction.lanes, line);
    }
}

void coalescer::gather(const vector_access& a, const access_transaction& transaction, std::uint8_t* line) {
    switch (a.size) {
        case 1: return gather_words<std::uint8_t>(a, transaction.lanes, line);
        case 2: return gather_words<std::uint16_t>(a, transaction.lanes, line);
        case 4: return gather_words<std::uint32_t>(a, transaction.lanes, line);
        default: return gather_words<std::uint64_t>(a, transaction.lanes, line);
    }
}

}  // namespace fabricvp::gpu
