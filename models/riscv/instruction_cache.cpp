// SPDX-License-Identifier: Apache-2.0
#include "riscv/instruction_cache.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/invalid_parameter.h"
#include "base/sparse_memory.h"

namespace fabricvp::riscv {

namespace {

invalid_parameter check_parameters(const instruction_cache_params& p) {
    constexpr auto line = instruction_cache::line;
    if (p.size % (p.ways * line))
        return {"size",
                fmt::format("size of {} bytes is not a multiple of ways x {} = {}", p.size.bytes, line, p.ways * line)};
    if (p.size / p.ways > sparse_memory::page_size)
        return {"size", fmt::format("size of {} bytes with {} ways: a way is at most {} bytes", p.size.bytes, p.ways,
                                    sparse_memory::page_size)};
    return {};
}

}  // namespace

void instruction_cache_params::describe(parameter_visitor& v) {
    v.field("size", size, between{0, 256 << 10}, "capacity, in lines of 64 bytes; 0: none, code is always there");
    v.field("ways", ways, between{1, 64}, "lines of a set; size / ways is at most a page of 4 KiB");
    v.field("miss", miss, between{0, 1e9}, "for which the hart stands when a line is fetched");
    reject(v, check_parameters(*this));
}

instruction_cache::instruction_cache(const sc_core::sc_module_name& name, const instruction_cache_params& p)
    : model(name), params(p), m_sets(p.size / p.ways / line), m_lines(p.size / line), m_oldest(m_sets) {
    reject("instruction_cache", check_parameters(p));
}

bool instruction_cache::fetch(const std::uint8_t* byte) {
    const auto number = reinterpret_cast<std::uint64_t>(byte) / line;
    const auto set = number % (sparse_memory::page_size / line) % m_sets;
    auto* const ways = &m_lines[set * params.ways];
    if (std::find(ways, ways + params.ways, number) != ways + params.ways) return false;
    ++misses;
    auto& victim = ways[m_oldest[set]];
    if (victim) {
        ++evictions;
        ++m_generation;
    }
    victim = number;
    m_oldest[set] = static_cast<std::uint8_t>((m_oldest[set] + 1) % params.ways);
    return true;
}

bool instruction_cache::holds(const std::uint8_t* byte) const {
    const auto number = reinterpret_cast<std::uint64_t>(byte) / line;
    const auto* const ways = &m_lines[number % (sparse_memory::page_size / line) % m_sets * params.ways];
    return std::find(ways, ways + params.ways, number) != ways + params.ways;
}

void instruction_cache::reset() {
    std::fill(m_lines.begin(), m_lines.end(), 0);
    std::fill(m_oldest.begin(), m_oldest.end(), 0);
    ++m_generation;
    model::reset();
}

}  // namespace fabricvp::riscv
