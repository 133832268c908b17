// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/cp_data_cache.h"

#include <algorithm>

#include "gpu/memory/l1_geometry.h"

namespace fabricvp::gpu {

namespace {
/// Calls f(physical, done, bytes) for each part of a range that lies in one line.
template <class F>
void by_line(std::uint64_t physical, std::size_t size, F f) {
    for (std::size_t done = 0; done < size;) {
        const auto bytes = std::min<std::size_t>(size - done, line_bytes - (physical + done) % line_bytes);
        f(physical + done, done, static_cast<unsigned>(bytes));
        done += bytes;
    }
}
}  // namespace

void cp_data_cache_params::describe(parameter_visitor& v) {
    v.field("size", size, between{0, 1 << 20}, "of a hart's data cache; 0: none, every access goes to L2");
    v.field("ways", ways, between{1, 64}, "lines of a set");
    v.field("latency", latency, between{0, 1000}, "of a hit, and of a miss before L2 is asked, in cycles of the hart");
    v.field("stores", stores, between{1, 256}, "stores on their way to L2 while the hart goes on");
    if (size) reject(v, l1_invalid_parameter(size, ways));
}

cp_data_cache::cp_data_cache(const sc_core::sc_module_name& name, const cp_data_cache_params& p,
                             const clock_domain& clock)
    : model(name), params(p), m_latency(clock.span(p.latency)) {
    if (p.size) m_lines = std::make_unique<l1_lines>(p.size, p.ways);
}

bool cp_data_cache::load(std::uint64_t physical, void* to, unsigned size) {
    const auto at = m_lines->find(physical & ~std::uint64_t{line_bytes - 1});
    if (at == l1_lines::absent) {
        ++misses;
        return false;
    }
    ++hits;
    m_lines->touch(at);
    std::memcpy(to, m_lines->data(at) + physical % line_bytes, size);
    return true;
}

void cp_data_cache::invalidate() {
    ++invalidations;
    if (m_lines) m_lines->clear();
}

void cp_data_cache::peek(std::uint64_t physical, std::uint8_t* to, std::size_t size) {
    if (!m_lines) return;
    by_line(physical, size, [&](std::uint64_t at, std::size_t done, unsigned bytes) {
        const auto line = m_lines->find(at & ~std::uint64_t{line_bytes - 1});
        if (line != l1_lines::absent) std::memcpy(to + done, m_lines->data(line) + at % line_bytes, bytes);
    });
}

void cp_data_cache::poke(std::uint64_t physical, const std::uint8_t* from, std::size_t size) {
    if (!m_lines) return;
    by_line(physical, size, [&](std::uint64_t at, std::size_t done, unsigned bytes) {
        const auto line = m_lines->find(at & ~std::uint64_t{line_bytes - 1});
        if (line != l1_lines::absent) std::memcpy(m_lines->data(line) + at % line_bytes, from + done, bytes);
    });
}

void cp_data_cache::reset() {
    if (m_lines) m_lines->clear();
    model::reset();
}

}  // namespace fabricvp::gpu
