// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/shared_segment.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <boost/interprocess/anonymous_shared_memory.hpp>

#include "platform/common/input_error.h"
#include "platform/ranks/processors.h"
#include "platform/ranks/ring.h"

namespace fabricvp::ranks {

namespace {

constexpr std::size_t max_ring = 64 << 10;  // stays in a core's cache
constexpr std::size_t min_ring = 1 << 10;
constexpr std::size_t max_all_rings = 64 << 20;

std::size_t fitting_ring(unsigned count) {
    const auto rings = std::max<std::size_t>(std::size_t{count} * (count - 1), 1);
    auto size = max_ring;
    while (size > min_ring && size * rings > max_all_rings) size /= 2;
    return size;
}

unsigned seats_for(unsigned count, unsigned processors) { return processors < count ? processors : 0; }

boost::interprocess::mapped_region reserve(unsigned count, std::size_t size) {
    try {
        return boost::interprocess::anonymous_shared_memory(size);
    } catch (const boost::interprocess::interprocess_exception& e) {
        throw input_error(fmt::format("--ranks {}: no {} MiB of shared memory: {}", count, size >> 20, e.what()));
    }
}

}  // namespace

std::size_t shared_segment::bytes_needed(unsigned count, std::size_t ring_bytes) {
    return sizeof(of_all) + count * sizeof(of_rank) + std::size_t{count} * count * ring_end::bytes_needed(ring_bytes);
}

shared_segment::shared_segment(unsigned count, std::size_t ring_bytes, unsigned processors)
    : m_count(count),
      m_seats(seats_for(count, processors ? processors : static_cast<unsigned>(usable_processors().size()))),
      m_ring_bytes(ring_bytes ? ring_bytes : fitting_ring(count)),
      m_region(reserve(count, bytes_needed(count, m_ring_bytes))) {
    (new (&shared()) of_all)->window.at_work = count;
    for (unsigned r = 0; r < count; ++r) new (&of(r)) of_rank;  // rings begin as zeros, which they are
}

void* shared_segment::ring(unsigned from, unsigned to) const {
    return reinterpret_cast<std::uint8_t*>(&of(m_count)) +
           (std::size_t{from} * m_count + to) * ring_end::bytes_needed(m_ring_bytes);
}

}  // namespace fabricvp::ranks
