// SPDX-License-Identifier: Apache-2.0
#include "hca/memory/translation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/invalid_parameter.h"

namespace fabricvp::hca {

namespace {

invalid_parameter check_parameters(const translation_params& p) {
    if (p.mtt_lines % p.mtt_ways == 0) return {};
    return {"mtt_lines", fmt::format("mtt_lines of {} is not a multiple of mtt_ways, {}", p.mtt_lines, p.mtt_ways)};
}

}  // namespace

void translation_params::describe(parameter_visitor& v) {
    v.field("mtt_lines", mtt_lines, between{8, 1 << 20},
            "lines of eight translation entries that the HCA caches; a multiple of mtt_ways");
    v.field("mtt_ways", mtt_ways, between{1, 64}, "ways of that cache");
    reject(v, check_parameters(*this));
}

translation::translation(const sc_core::sc_module_name& name, const translation_params& p, bus_access& bus,
                         const icm& icm)
    : model(name), params(p), m_bus(bus), m_icm(icm), m_lines(p.mtt_lines) {
    reject("translation", check_parameters(p));
}

void translation::configure(unsigned log_entries) {
    m_log_entries = log_entries;
    m_regions.clear();
    m_live = 0;
}

bool translation::add_region(std::uint32_t index, const region& r) {
    if (index >> m_log_entries || (r.key & ((std::uint64_t{1} << m_log_entries) - 1)) != index) return false;
    if (index >= m_regions.size())
        m_regions.resize(std::min<std::size_t>(std::size_t{1} << m_log_entries, index + index / 2 + 64));
    if (m_regions[index].valid) return false;
    m_regions[index] = r;
    m_regions[index].valid = true;
    m_regions[index].serial = ++m_serial;
    ++m_live;
    return true;
}

bool translation::remove_region(std::uint32_t index) {
    if (index >= m_regions.size() || !m_regions[index].valid) return false;
    m_regions[index] = {};
    --m_live;
    drop_cached();
    return true;
}

void translation::drop_cached() {
    ++mtt_drops;
    ++m_generation;  // what is being read serves those that wait for it, and is not kept
    for (auto& l : m_lines) l = {};
}

violation translation::check(const region_access& a, const region*& found) {
    const auto key = a.key << 24 | a.key >> 8;
    const auto index = key & static_cast<std::uint32_t>((std::uint64_t{1} << m_log_entries) - 1);
    const auto deny = [this](violation v) {
        ++violations;
        return v;
    };
    if (index >= m_regions.size()) return deny(violation::key);
    const auto& r = m_regions[index];
    if (!r.valid || r.key != key) return deny(violation::key);
    if (r.domain != a.domain && !a.any_domain) return deny(violation::domain);
    if ((r.rights & a.rights) != a.rights) return deny(violation::rights);
    if (a.address < r.start || a.address - r.start > r.length || a.bytes > r.length - (a.address - r.start) ||
        a.address + a.bytes < a.address)
        return deny(violation::bounds);
    found = &r;
    return violation::none;
}

std::uint64_t translation::mtt_address(const region& r, std::uint64_t address) const {
    return r.mtt + 8 * ((address >> r.page_bits) - (r.start >> r.page_bits));
}

void translation::append(bus_ranges& to, std::uint64_t address, std::uint64_t bytes) {
    if (!to.empty() && to.back().address + to.back().bytes == address)
        to.back().bytes += static_cast<std::uint32_t>(bytes);
    else
        to.push_back({address, static_cast<std::uint32_t>(bytes)});
}

translation::line* translation::cached(std::uint64_t number) {
    const auto sets = m_lines.size() / params.mtt_ways;
    auto* set = &m_lines[number % sets * params.mtt_ways];
    for (std::uint64_t w = 0; w < params.mtt_ways; ++w)
        if (set[w].number == number) {
            set[w].used = ++m_uses;
            return &set[w];
        }
    return nullptr;
}

void translation::translate(const region_access& a, done finished) {
    const region* r = nullptr;
    auto found = std::move(m_found);  // its storage is used again
    found.clear();
    auto v = check(a, r);
    auto at = a.address;
    const auto end = a.address + a.bytes;
    if (v == violation::none && r->physical && a.bytes) {
        append(found, at, a.bytes);
        at = end;
    }
    while (v == violation::none && at < end) {
        const auto entry = mtt_address(*r, at);
        const auto* l = cached(entry / 64);
        if (!l) break;
        ++mtt_hits;
        if (!append_page(found, at, end, r->page_bits, l->entries[entry / 8 % mtts_per_line])) {
            ++violations;
            v = violation::translation;
        }
    }
    if (v != violation::none || at == end) {
        if (v != violation::none) found.clear();
        finished(v, found);
        m_found = std::move(found);
        return;
    }
    auto w = std::make_unique<walk>();
    *w = {static_cast<std::uint32_t>(r - m_regions.data()),
          r->serial,
          at,
          end,
          r->page_bits,
          std::move(found),
          std::move(finished)};
    continue_walk(std::move(w));
}

/// The bytes of the page of `at` are where `entry` says.
bool translation::append_page(bus_ranges& found, std::uint64_t& at, std::uint64_t end, unsigned page_bits,
                              std::uint64_t entry) {
    if (!(entry & HCA_MTT_PRESENT)) return false;
    const auto page = std::uint64_t{1} << page_bits;
    const auto offset = at & (page - 1);
    const auto bytes = std::min(end - at, page - offset);
    append(found, (entry & HCA_MTT_ADDRESS & ~(page - 1)) + offset, bytes);
    at += bytes;
    return true;
}

/// The region of a walk, unless it has been taken away meanwhile.
const region* translation::live_region(const walk& w) const {
    if (w.index >= m_regions.size()) return nullptr;
    const auto& r = m_regions[w.index];
    return r.valid && r.serial == w.serial ? &r : nullptr;
}

void translation::fail(walk& w, violation v) {
    ++violations;
    w.found.clear();
    w.finished(v, w.found);
}

void translation::continue_walk(std::unique_ptr<walk> w) {
    while (w->address < w->end) {
        const auto* r = live_region(*w);
        if (!r) return fail(*w, violation::key);
        const auto at = mtt_address(*r, w->address);
        const auto* l = cached(at / 64);
        if (!l) return fetch(at / 64, std::move(w));
        ++mtt_hits;
        if (!append_page(w->found, w->address, w->end, w->page_bits, l->entries[at / 8 % mtts_per_line]))
            return fail(*w, violation::translation);
    }
    w->finished(violation::none, w->found);
}

void translation::fetch(std::uint64_t number, std::unique_ptr<walk> w) {
    ++mtt_misses;
    // Entries read before software took something away are not for those that ask afterwards.
    const auto generation = m_generation;
    auto& waiting = m_waiting[{generation, number}];
    waiting.push_back(std::move(w));
    if (waiting.size() > 1) return;
    const auto bytes = allocate_slice(64);
    const auto where = m_icm.bus_address(number * 64);
    if (!where) return fetched(number, generation, false, bytes);
    m_bus.read(*where, bytes, [this, number, generation, bytes](bool ok) { fetched(number, generation, ok, bytes); });
}

void translation::fetched(std::uint64_t number, std::uint64_t generation, bool ok, const buffer_slice& bytes) {
    const auto found = m_waiting.find({generation, number});
    if (found == m_waiting.end()) return;
    auto waiting = std::move(found->second);
    m_waiting.erase(found);
    line arrived;
    arrived.number = number;
    if (ok)
        for (unsigned i = 0; i < mtts_per_line; ++i) arrived.entries[i] = hca_get64(bytes.data() + 8 * i);
    if (ok && generation == m_generation) fill_line(arrived);
    for (auto& w : waiting) {
        const auto* r = live_region(*w);
        if (!r)
            fail(*w, violation::key);
        else if (const auto at = mtt_address(*r, w->address);
                 !ok ||
                 !append_page(w->found, w->address, w->end, w->page_bits, arrived.entries[at / 8 % mtts_per_line]))
            fail(*w, violation::translation);
        else
            continue_walk(std::move(w));
    }
}

void translation::fill_line(line& arrived) {
    const auto sets = m_lines.size() / params.mtt_ways;
    auto* set = &m_lines[arrived.number % sets * params.mtt_ways];
    arrived.used = ++m_uses;
    *std::min_element(set, set + params.mtt_ways, [](const line& a, const line& b) { return a.used < b.used; }) =
        arrived;
}

void translation::reset() {
    m_regions.clear();
    m_live = 0;
    m_log_entries = 0;
    m_waiting.clear();
    drop_cached();
    model::reset();
}

}  // namespace fabricvp::hca
