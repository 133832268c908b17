// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/lds.h"

#include <algorithm>
#include <cstring>

namespace fabricvp::gpu {

static lane_mask lanes_between(unsigned first, unsigned behind) {
    return (behind - first == wavefront_lanes ? ~lane_mask{0} : (lane_mask{1} << (behind - first)) - 1) << first;
}

void lds_params::describe(parameter_visitor& v) {
    v.field("size", size, between{1 << 10, GPU_LDS_SIZE}, "bytes for the work-groups of a compute unit");
    v.field("banks", banks, between{1, 64}, "4-byte words that a pass serves");
    v.field("latency", latency, between{1, 10'000}, "cycles from an access to its data, without conflicts");
    v.field("queue", queue, between{1, 1024},
            "instructions of a compute unit whose passes have not ended; the next one waits at issue. GCN lets a "
            "wavefront have 15 (LGKM_CNT, 4 bits: GCN3 instruction set, 4.4)");
}

local_data_share::local_data_share(const sc_core::sc_module_name& name, const lds_params& p, const clock_domain& clock)
    : model(name),
      params(p),
      busy(*this, "busy", "cycles", "passes", 1, 1e12 / static_cast<double>(clock.rate().hertz)),
      m_clock(clock),
      m_free(p.size),
      m_ends(p.queue) {}

void local_data_share::allocate(lds_block& block, std::uint32_t bytes) {
    m_free -= bytes;
    block.bytes.assign(bytes, 0);
    block.reservations.clear();
}

void local_data_share::release(lds_block& block) {
    m_free += block.bytes.size();
    block.bytes.clear();
}

void local_data_share::reset() {
    m_free = params.size;
    busy.drop();
    m_free_at = 0;
    std::fill(m_ends.begin(), m_ends.end(), 0);
    m_next = 0;
    model::reset();
}

ticks local_data_share::access(lds_block& block, const lane_op& o, lane_mask mask, const lane_registers::row& offsets,
                               lane_registers::row& data, std::uint32_t wavefront, ticks at) {
    perform(block, o, mask, offsets, data, wavefront);
    ++accesses;
    return serve(passes(o, mask, offsets), at);
}

ticks local_data_share::shuffle(lane_mask mask, unsigned size, ticks at) {
    const auto together = lanes_of_pass(size == 8 ? 2 : 1);
    std::uint64_t n = 0;
    for (unsigned first = 0; first < wavefront_lanes; first += together)
        n += (mask & lanes_between(first, std::min(first + together, wavefront_lanes))) != 0;
    ++shuffles;
    return serve(n, at);
}

ticks local_data_share::serve(std::uint64_t n, ticks at) {
    const ticks begin = std::max(at, m_free_at);
    m_free_at = begin + m_clock.span(n);
    busy.book(0, begin, m_free_at);
    m_ends[m_next] = m_free_at;
    m_next = m_next + 1 == m_ends.size() ? 0 : m_next + 1;
    return m_free_at + m_clock.span(params.latency);
}

std::uint64_t local_data_share::passes(const lane_op& o, lane_mask mask, const lane_registers::row& offsets) {
    const unsigned words = o.memory.size == 8 ? 2 : 1;
    const auto together = lanes_of_pass(words);
    const bool exclusive = o.memory.kind != access_kind::read && o.memory.kind != access_kind::write;
    std::uint64_t total = 0, min = 0;
    for (unsigned first = 0; first < wavefront_lanes; first += together) {
        const unsigned behind = std::min(first + together, wavefront_lanes);
        const lane_mask part = lanes_between(first, behind);
        if ((mask & part) == 0) continue;
        if (!exclusive && (mask & part) == part) {
            // Neighbours want neighbouring words (or bytes of one), as they mostly do.
            bool in_order = true;
            for (unsigned lane = first; lane < behind; ++lane)
                in_order &= offsets[lane] == offsets[first] + std::uint64_t{lane - first} * o.memory.size;
            if (in_order) {
                ++total;
                ++min;
                continue;
            }
        }
        // Words wanted of each bank, without repetition (atomics: with).
        std::array<std::uint8_t, 64> wanted{};
        std::array<std::array<std::uint32_t, 64>, 64> seen;
        std::uint8_t max = 0;
        for (unsigned lane = first; lane < behind; ++lane) {
            if (!(mask >> lane & 1)) continue;
            for (unsigned w = 0; w < words; ++w) {
                const auto word = static_cast<std::uint32_t>(offsets[lane] / 4 + w);
                const auto bank = word % params.banks;
                auto& n = wanted[bank];
                const auto* end = seen[bank].data() + n;
                if (!exclusive && std::find(static_cast<const std::uint32_t*>(seen[bank].data()), end, word) != end)
                    continue;
                seen[bank][n++] = word;
                max = std::max(max, n);
            }
        }
        total += max;
        min += max != 0;
    }
    bank_conflicts += total - min;
    return total;
}

namespace {

template <class T>
void load_lanes(const std::uint8_t* bytes, lane_mask mask, const lane_registers::row& offsets,
                lane_registers::row& data) {
    for (lane_mask left = mask; left; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
        T v;
        std::memcpy(&v, bytes + offsets[lane], sizeof v);
        data[lane] = v;
    }
}
template <class T>
void store_lanes(std::uint8_t* bytes, lane_mask mask, const lane_registers::row& offsets,
                 const lane_registers::row& data) {
    for (lane_mask left = mask; left; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
        const T v = static_cast<T>(data[lane]);
        std::memcpy(bytes + offsets[lane], &v, sizeof v);
    }
}

}  // namespace

void local_data_share::perform(lds_block& block, const lane_op& o, lane_mask mask, const lane_registers::row& offsets,
                               lane_registers::row& data, std::uint32_t wavefront) {
    auto& reservations = block.reservations;
    auto* const bytes = block.bytes.data();
    if (o.memory.kind == access_kind::read) {
        switch (o.memory.size) {
            case 1: return load_lanes<std::uint8_t>(bytes, mask, offsets, data);
            case 2: return load_lanes<std::uint16_t>(bytes, mask, offsets, data);
            case 4: return load_lanes<std::uint32_t>(bytes, mask, offsets, data);
            default: return load_lanes<std::uint64_t>(bytes, mask, offsets, data);
        }
    }
    if (o.memory.kind == access_kind::write && reservations.empty()) {
        switch (o.memory.size) {
            case 1: return store_lanes<std::uint8_t>(bytes, mask, offsets, data);
            case 2: return store_lanes<std::uint16_t>(bytes, mask, offsets, data);
            case 4: return store_lanes<std::uint32_t>(bytes, mask, offsets, data);
            default: return store_lanes<std::uint64_t>(bytes, mask, offsets, data);
        }
    }
    const auto broken = [&](std::uint64_t granule) {
        if (reservations.empty()) return;
        reservations.erase(std::remove_if(reservations.begin(), reservations.end(),
                                          [&](const auto& r) { return r.granule == granule; }),
                           reservations.end());
    };
    for (lane_mask left = mask; left; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
        auto* at = bytes + offsets[lane];
        const auto granule = static_cast<std::uint32_t>(offsets[lane] / 8);
        const auto load = [&] {
            std::uint64_t v = 0;
            std::memcpy(&v, at, o.memory.size);
            return v;
        };
        const auto own = [&](const lds_block::reservation& r) { return r.wavefront == wavefront && r.lane == lane; };
        switch (o.memory.kind) {
            case access_kind::read:  // see above
            case access_kind::lock:  // of lines alone
            case access_kind::unlock: break;
            case access_kind::write:
                std::memcpy(at, &data[lane], o.memory.size);
                broken(granule);
                break;
            case access_kind::atomic:
                data[lane] = perform_atomic(o.memory.operation, at, o.memory.size, data[lane]);
                broken(granule);
                break;
            case access_kind::load_reserved:
                reservations.erase(std::remove_if(reservations.begin(), reservations.end(), own), reservations.end());
                reservations.push_back({wavefront, lane, granule});
                data[lane] = load();
                break;
            case access_kind::store_conditional: {
                const auto mine = std::find_if(reservations.begin(), reservations.end(), own);
                const bool holds = mine != reservations.end() && mine->granule == granule;
                if (mine != reservations.end()) reservations.erase(mine);
                if (holds) {
                    std::memcpy(at, &data[lane], o.memory.size);
                    broken(granule);
                }
                data[lane] = holds ? 0 : 1;
                break;
            }
        }
    }
}

}  // namespace fabricvp::gpu
