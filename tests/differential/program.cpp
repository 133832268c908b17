// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "generator.h"
#include "instructions.h"
#include "layout.h"

namespace differential {

namespace {
constexpr std::uint64_t page_size = 4096;
constexpr unsigned set_count = 24, window_pages = 16;
constexpr std::uint64_t window_base = 0x40000000;
enum : std::uint64_t { pte_v = 1, pte_r = 2, pte_w = 4, pte_x = 8, pte_u = 16, pte_a = 64, pte_d = 128 };

void put_word(std::vector<std::uint8_t>& bytes, std::size_t at, std::uint32_t w) { std::memcpy(&bytes[at], &w, 4); }
std::uint32_t get_word(const std::vector<std::uint8_t>& bytes, std::size_t at) {
    std::uint32_t w;
    std::memcpy(&w, &bytes[at], 4);
    return w;
}
}  // namespace

program::program(const image_options& options) : m_options(options), m_random(options.seed) {
    if (options.sequences > LAYOUT_MAX_SEQUENCES) throw std::invalid_argument("too many sequences");
    build_page_sets();
    m_sequences.resize(options.sequences);
    for (std::size_t n = 0; n < m_sequences.size(); ++n) build_sequence(n);
}

void program::build_page_sets() {
    m_tables.assign(set_count * 4 * 512, 0);
    const auto table_address = [](unsigned t) { return LAYOUT_TABLES + t * page_size; };
    for (unsigned n = 0; n < set_count; ++n) {
        page_set set;
        set.user = n & 1;
        const bool four_levels = n & 2;
        auto* const tables = &m_tables[n * 4 * 512];
        const auto entry_to = [&](unsigned t) { return table_address(n * 4 + t) >> 12 << 10 | pte_v; };
        auto* const giga = tables + (four_levels ? 512 : 0);  // the level of 1 GiB pages
        const unsigned next = four_levels ? 2 : 1;
        if (four_levels) tables[0] = tables[511] = entry_to(1);
        giga[1] = entry_to(next);
        const auto all = pte_v | pte_r | pte_w | pte_x | pte_a | pte_d;
        giga[2] = std::uint64_t(LAYOUT_DRAM) >> 12 << 10 | all | (set.user ? std::uint64_t(pte_u) : 0);
        giga[510] = std::uint64_t(LAYOUT_DRAM) >> 12 << 10 | all;  // the supervisor's alias
        tables[next * 512] = entry_to(next + 1);
        set.code_page = static_cast<unsigned>(m_random() % window_pages);
        for (unsigned p = 0; p < window_pages; ++p) {
            const std::uint64_t physical = LAYOUT_PAGES + (n * window_pages + p) * page_size;
            auto flags = m_random() & (pte_r | pte_w | pte_x | pte_a | pte_d);
            if (m_random() % 8) flags |= pte_v;
            if (m_random() % 8 ? set.user : !set.user) flags |= pte_u;
            if (p == set.code_page) flags &= ~pte_w;
            // QEMU lets S mode execute a user's page that it has read with SUM set, until its TLB drops it.
            if (p == set.code_page && !set.user && (flags & pte_u)) flags &= ~pte_x;
            if (p != set.code_page && m_random() % 4)
                flags = (flags & ~pte_u) | pte_v | pte_r | pte_w | (set.user ? std::uint64_t(pte_u) : 0);
            const bool mine = static_cast<bool>(flags & pte_u) == set.user;
            constexpr auto needed = pte_v | pte_r | pte_w;
            if (mine && (flags & needed) == needed) set.open.push_back(p);
            tables[(next + 1) * 512 + p] =
                physical >> 12 << 10 | flags | (m_random() % 40 ? 0 : std::uint64_t(1) << (54 + m_random() % 10));
            if (tables[(next + 1) * 512 + p] >> 54 && !set.open.empty() && set.open.back() == p) set.open.pop_back();
        }
        set.satp = std::uint64_t(four_levels ? 9 : 8) << 60 | std::uint64_t(n) << 44 | table_address(n * 4) >> 12;
        m_sets.push_back(set);
    }
}

void program::build_sequence(std::size_t n) {
    auto& s = m_sequences[n];
    environment env;
    static constexpr mode levels[] = {mode::machine, mode::supervisor, mode::user};
    env.level = levels[m_random() % 3];
    s.status = static_cast<std::uint64_t>(env.level) << 11 | 3u << 13;
    s.status |= m_random() & (1u << 1 | 1u << 5 | 1u << 7 | 1u << 8 | 1u << 18 | 1u << 19);
    if (m_random() % 4 == 0) s.status |= m_random() & (7u << 20);
    s.fcsr = m_random() & 31;
    s.fcsr |= (m_random() % 8 ? m_random() % 5 : m_random() % 8) << 5;
    if (env.level != mode::machine && m_random() % 3) {
        std::vector<const page_set*> fitting;
        for (const auto& set : m_sets)
            if (set.user == (env.level == mode::user)) fitting.push_back(&set);
        const auto& set = *fitting[m_random() % fitting.size()];
        env.translated = true;
        env.open_pages = set.open;
        env.code_page = set.code_page;
        s.satp = set.satp;
        if (m_random() % 2) {
            s.medeleg = m_random() & 0xb0ff;        // not the calls that end a sequence
            s.status &= ~(std::uint64_t(1) << 22);  // the handler needs its sret
        }
    }
    generator g(m_random, env, s);
    for (unsigned r = 1; r < 32; ++r) s.x[r] = g.random_integer();
    for (auto& f : s.f) f = g.random_float();
    for (const unsigned r : {2u, 3u, 8u, 9u})
        s.x[r] =
            (env.translated ? window_base + m_random() % window_pages * page_size : LAYOUT_WINDOWS + n * page_size) +
            (r == 3 ? 2048 : 1536 + 16 * (m_random() % 16));
    g.run(m_options.units);
}

std::vector<std::uint8_t> program::assemble(const sequence& s) {
    std::vector<std::size_t> start;
    std::vector<std::uint8_t> bytes;
    for (const auto& u : s.units) {
        start.push_back(bytes.size());
        const auto at = bytes.size();
        bytes.resize(at + 2 * u.code.size());
        if (!u.code.empty()) std::memcpy(&bytes[at], u.code.data(), 2 * u.code.size());
    }
    start.push_back(bytes.size());
    bytes.resize(bytes.size() + 4);
    put_word(bytes, bytes.size() - 4, insn::ecall);
    for (std::size_t n = 0; n < s.units.size(); ++n) {
        const auto& u = s.units[n];
        if (u.kind == unit::patch::none || u.code.empty()) continue;
        const auto at = start[n] + 2 * u.at;
        const auto target = start[std::min(u.target, s.units.size())];
        const int offset = static_cast<int>(target) - static_cast<int>(start[n] + 2 * u.origin);
        std::uint16_t half;
        std::memcpy(&half, &bytes[at], 2);
        switch (u.kind) {
            case unit::patch::branch: put_word(bytes, at, get_word(bytes, at) | insn::branch_offset(offset)); break;
            case unit::patch::jump: put_word(bytes, at, get_word(bytes, at) | insn::jump_offset(offset)); break;
            case unit::patch::low_immediate:
                put_word(bytes, at, get_word(bytes, at) | static_cast<std::uint32_t>(offset) << 20);
                break;
            case unit::patch::compressed_branch:
                half |= insn::compressed_branch_offset(offset);
                std::memcpy(&bytes[at], &half, 2);
                break;
            default: half |= insn::compressed_jump_offset(offset); std::memcpy(&bytes[at], &half, 2);
        }
    }
    return bytes;
}

void program::place(std::uint8_t* memory, long only) const {
    const auto at = [&](std::uint64_t address) { return memory + (address - LAYOUT_DRAM); };
    std::memcpy(at(LAYOUT_TABLES), m_tables.data(), m_tables.size() * 8);
    // Windows hold random bits, half of them floating-point numbers of moderate size.
    std::mt19937_64 random(m_options.seed ^ 0x5eed);
    const auto fill = [&](std::uint64_t from, std::uint64_t to) {
        for (auto a = from; a < to; a += 8) {
            auto v = random();
            if (v & 1) v = (v & 0x800fffffffffffff) | (std::uint64_t(1000) + (v >> 52 & 31)) << 52;
            std::memcpy(at(a), &v, 8);
        }
    };
    fill(LAYOUT_PAGES, LAYOUT_PAGES + set_count * window_pages * page_size);
    fill(LAYOUT_WINDOWS, LAYOUT_WINDOWS + m_sequences.size() * page_size);
    for (unsigned n = 0; n < set_count; ++n) {
        auto* const page = at(LAYOUT_PAGES + (n * window_pages + m_sets[n].code_page) * page_size);
        for (unsigned i = 0; i < page_size; i += 2) std::memcpy(page + i, "\x82\x80", 2);  // c.jr ra
    }
    m_entries.clear();
    std::uint64_t code = LAYOUT_CODE;
    std::uint64_t count = 0;
    for (std::size_t n = 0; n < m_sequences.size(); ++n) {
        const auto& s = m_sequences[n];
        const auto bytes = assemble(s);
        m_entries.push_back(code);
        if (only < 0 || static_cast<std::size_t>(only) == n) {
            if (code + bytes.size() > LAYOUT_CODE_END) throw std::length_error("the code does not fit");
            std::memcpy(at(code), bytes.data(), bytes.size());
            auto* const d = at(LAYOUT_DESCRIPTORS + count++ * DESCRIPTOR_SIZE);
            const auto set = [&](unsigned offset, std::uint64_t v) { std::memcpy(d + offset, &v, 8); };
            set(DESCRIPTOR_ENTRY, code);
            set(DESCRIPTOR_END, code + bytes.size() - 4);
            set(DESCRIPTOR_STATUS, s.status);
            set(DESCRIPTOR_SATP, s.satp);
            set(DESCRIPTOR_MEDELEG, s.medeleg);
            set(DESCRIPTOR_FCSR, s.fcsr);
            for (unsigned r = 1; r < 32; ++r) set(DESCRIPTOR_X + 8 * (r - 1), s.x[r]);
            for (unsigned r = 0; r < 32; ++r) set(DESCRIPTOR_F + 8 * r, s.f[r]);
        }
        code += (bytes.size() + 15) & ~std::uint64_t(15);
        code += n % 3 == 0 ? 2 : 0;  // odd halfwords now and then
    }
    std::memcpy(at(LAYOUT_HEADER + HEADER_COUNT), &count, 8);
}

}  // namespace differential
