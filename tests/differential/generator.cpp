// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <algorithm>

#include "instructions.h"

namespace differential {

using namespace insn;

namespace {
const encodings& all() {
    static const encodings e;
    return e;
}
constexpr bool is_window_register(unsigned r) { return r == 2 || r == 8 || r == 9; }
constexpr unsigned window_page = 0x40000;  // upper immediate of the translated window

std::vector<std::uint16_t> halves(const std::vector<word>& words) {
    std::vector<std::uint16_t> code;
    for (const auto w : words) {
        code.push_back(static_cast<std::uint16_t>(w));
        code.push_back(static_cast<std::uint16_t>(w >> 16));
    }
    return code;
}
}  // namespace

generator::generator(std::mt19937_64& random, const environment& env, sequence& out)
    : m_random(random), m_env(env), m_out(out) {}

void generator::run(unsigned units) {
    while (m_out.units.size() < units) one();
}

std::uint64_t generator::random_integer() {
    static constexpr std::uint64_t corners[] = {0,
                                                1,
                                                ~std::uint64_t(0),
                                                0x7fffffff,
                                                0x80000000,
                                                0xffffffff,
                                                0x100000000,
                                                0xffffffff80000000,
                                                0x7fffffffffffffff,
                                                0x8000000000000000,
                                                63,
                                                64,
                                                31,
                                                32};
    if (chance(25)) return corners[below(14)];
    const auto v = m_random() >> below(64);
    return chance(50) ? v : ~v;
}

std::uint64_t generator::random_float() {
    const bool single = chance(50);
    const unsigned fraction = single ? 23 : 52, exponents = single ? 255 : 2047, bias = exponents / 2;
    std::uint64_t exponent, significand = m_random() & ((std::uint64_t(1) << fraction) - 1);
    switch (below(8)) {
        case 0:
            exponent = exponents;
            significand = chance(50) ? 0 : significand;
            break;
        case 1: exponent = chance(50) ? 0 : below(3); break;
        case 2: exponent = below(exponents); break;
        case 3: exponent = exponents - 1 - below(3); break;
        default: exponent = bias - 8 + below(16);
    }
    if (chance(30)) significand &= ~std::uint64_t(0) << below(fraction);
    if (chance(10)) significand = 0;
    auto bits = (m_random() & 1) << (single ? 31 : 63) | exponent << fraction | significand;
    if (single && !chance(4)) bits |= std::uint64_t(0xffffffff) << 32;
    return bits;
}

unsigned generator::destination() {
    while (true) {
        const auto r = below(32);
        if (r != 3 && !(m_locked >> r & 1)) return r;
    }
}

/// A register for addresses and constants.
unsigned generator::scratch() {
    while (true) {
        const auto r = 5 + below(27);
        if (!is_window_register(r) && !(m_locked >> r & 1)) return r;
    }
}

unsigned generator::window_register() {
    static constexpr unsigned registers[] = {2, 3, 8, 9};
    return registers[below(4)];
}

void generator::restore(unit& u, unsigned reg) {
    word_list words;
    if (m_env.translated)
        words = {lui(reg, window_page + below(16)), addi(reg, reg, 1024 + 16 * static_cast<int>(below(64)))};
    else
        words = {addi(reg, 3, 16 * static_cast<int>(below(64)) - 512)};
    const auto code = halves(words);
    u.code.insert(u.code.end(), code.begin(), code.end());
}

void generator::put(const word_list& words, unsigned written) {
    unit u;
    u.code = halves(words);
    if (is_window_register(written)) restore(u, written);
    m_out.units.push_back(std::move(u));
}

void generator::one() {
    const auto& e = all();
    switch (const auto n = below(1000); n / 10) {
        case 0 ... 17: return table_instruction(any(e.arithmetic));
        case 18 ... 22: return table_instruction(any(e.multiply));
        case 23 ... 29: return table_instruction(any(e.bits));
        case 30 ... 43: return table_instruction(any(e.memory));
        case 44 ... 60: return float_instruction(any(e.floating));
        case 61 ... 64: return atomic_instruction(any(e.atomic));
        case 65: return reserved_pair();
        case 66 ... 82: return compressed();
        case 83 ... 88: return branch();
        case 89: return indirect_jump();
        case 90: return loop(n % 10 < 2);
        case 91 ... 93: return csr();
        case 94: return n % 10 < 4 ? change_status() : n % 10 < 6 ? return_from_trap() : opcode_noise();
        case 95: return trap();
        case 96: return wild_access();
        case 97: return n % 10 < 6 ? fetch_elsewhere() : rewrite_code();
        default: return opcode_noise();
    }
}

void generator::table_instruction(const encoding& e) {
    const auto rd = destination(), rs1 = source(), rs2 = source();
    const auto reach = m_env.translated ? -1000 + static_cast<int>(below(3000)) : -1500 + static_cast<int>(below(3000));
    const int offset = chance(15) ? reach : reach & ~7;
    switch (e.form) {
        case shape::r: return put({e.bits | rd << 7 | rs1 << 15 | rs2 << 20}, rd);
        case shape::unary: return put({e.bits | rd << 7 | rs1 << 15}, rd);
        case shape::i: return put({e.bits | rd << 7 | rs1 << 15 | static_cast<word>(m_random()) << 20}, rd);
        case shape::shift6: return put({e.bits | rd << 7 | rs1 << 15 | below(64) << 20}, rd);
        case shape::shift5: return put({e.bits | rd << 7 | rs1 << 15 | below(32) << 20}, rd);
        case shape::u: return put({e.bits | rd << 7 | static_cast<word>(m_random()) << 12}, rd);
        case shape::load:
            return put({e.bits | rd << 7 | window_register() << 15 | static_cast<word>(offset) << 20}, rd);
        case shape::float_load:
            return put({e.bits | below(32) << 7 | window_register() << 15 | static_cast<word>(offset) << 20});
        default: return put({e.bits | s(0, rs2, window_register(), offset, 0)});
    }
}

void generator::float_instruction(const encoding& e) {
    const auto rd = below(32), rs1 = below(32), rs2 = below(32), rs3 = below(32), xd = destination();
    static constexpr unsigned modes[] = {0, 1, 2, 3, 4, 7, 7, 7};
    const auto rm = (chance(1) ? 5 + below(2) : modes[below(8)]) << 12;
    switch (e.form) {
        case shape::f_r: return put({e.bits | rd << 7 | rs1 << 15 | rs2 << 20});
        case shape::f_r_rm: return put({e.bits | rm | rd << 7 | rs1 << 15 | rs2 << 20});
        case shape::f_unary_rm: return put({e.bits | rm | rd << 7 | rs1 << 15});
        case shape::f_fused: return put({e.bits | rm | rd << 7 | rs1 << 15 | rs2 << 20 | rs3 << 27});
        case shape::f_compare: return put({e.bits | xd << 7 | rs1 << 15 | rs2 << 20}, xd);
        case shape::f_to_x_rm: return put({e.bits | rm | xd << 7 | rs1 << 15}, xd);
        case shape::f_to_x: return put({e.bits | xd << 7 | rs1 << 15}, xd);
        case shape::x_to_f_rm: return put({e.bits | rm | rd << 7 | source() << 15});
        default: return put({e.bits | rd << 7 | source() << 15});
    }
}

void generator::atomic_instruction(const encoding& e) {
    const auto t = scratch(), rd = destination();
    auto offset = (static_cast<int>(below(60)) - 30) * 8 + (e.bits >> 12 & 1 ? 0 : 4 * static_cast<int>(below(2)));
    if (!m_env.translated && chance(3)) offset += static_cast<int>(below(8));
    put({addi(t, window_register(), offset), e.bits | rd << 7 | t << 15 | source() << 20 | below(4) << 25}, rd);
}

void generator::reserved_pair() {
    const auto t = scratch(), f3 = 2 + below(2);
    auto first = destination(), second = destination(), middle = destination();
    while (first == t || is_window_register(first)) first = destination();
    while (middle == t || is_window_register(middle)) middle = destination();
    word_list words;
    if (m_env.translated) {
        if (m_env.open_pages.empty()) return;
        words = {lui(t, window_page + any(m_env.open_pages)), addi(t, t, 8 * static_cast<int>(below(200)))};
    } else {
        words = {addi(t, window_register(), 8 * (static_cast<int>(below(60)) - 30))};
    }
    words.push_back(lr(f3, first, t, below(4)));
    for (auto n = below(3); n; --n) words.push_back(addi(middle, source(), static_cast<int>(below(2048))));
    words.push_back(sc(f3, second, t, source(), below(4)));
    if (second != t && !is_window_register(second) && chance(10)) words.push_back(sc(f3, second, t, source(), 0));
    put(words, second);
}

void generator::compressed() {
    while (true) {
        auto h = static_cast<std::uint16_t>(m_random());
        const unsigned quadrant = h & 3, f3 = h >> 13, full = h >> 7 & 31, low = 8 + (h >> 2 & 7),
                       high = 8 + (h >> 7 & 7);
        unsigned written = 0;
        if (quadrant == 0) {
            if (f3 != 0 && f3 != 4) h = static_cast<std::uint16_t>((h & ~0x0380) | below(2) << 7);  // base: x8 or x9
            if (f3 == 0 || f3 == 2 || f3 == 3) written = low;
        } else if (quadrant == 1) {
            if (f3 > 4) continue;  // jumps and branches are made elsewhere
            written = f3 == 4 ? high : full;
        } else if (quadrant == 2) {
            if (f3 == 4 && (h >> 2 & 31) == 0 && full != 0) continue;  // c.jr, c.jalr
            if (f3 == 0 || f3 == 2 || f3 == 3 || f3 == 4) written = full;
        } else {
            continue;
        }
        if (written == 3 || m_locked >> written & 1) continue;
        unit u;
        u.code = {h};
        if (is_window_register(written)) restore(u, written);
        m_out.units.push_back(std::move(u));
        return;
    }
}

void generator::branch() {
    unit u;
    const auto here = m_out.units.size();
    const auto kind = below(10);
    if (kind < 6) {
        static constexpr unsigned conditions[] = {0, 1, 4, 5, 6, 7};
        const auto rs1 = source(), rs2 = chance(15) ? rs1 : source();
        u.code = halves({0x63 | conditions[below(6)] << 12 | rs1 << 15 | rs2 << 20});
        u.kind = unit::patch::branch;
    } else if (kind < 8) {
        u.code = {static_cast<std::uint16_t>(0xc001 | below(2) << 13 | below(8) << 7)};
        u.kind = unit::patch::compressed_branch;
    } else if (kind == 8) {
        auto rd = destination();
        while (is_window_register(rd)) rd = destination();
        u.code = halves({0x6f | rd << 7});
        u.kind = unit::patch::jump;
    } else {
        u.code = {0xa001};
        u.kind = unit::patch::compressed_jump;
    }
    u.target = here + 1 + below(4);
    m_out.units.push_back(std::move(u));
}

void generator::indirect_jump() {
    const auto t = scratch();
    auto rd = destination();
    while (is_window_register(rd)) rd = destination();
    unit u;
    u.kind = unit::patch::low_immediate;
    u.target = m_out.units.size() + 1 + below(4);
    if (chance(50)) {
        u.code = halves({auipc(t, 0), jalr(rd, t, 0)});
        u.at = 2;
    } else {
        u.code = halves({auipc(t, 0), addi(t, t, 0)});
        u.code.push_back(
            static_cast<std::uint16_t>(0x8002 | t << 7 | (m_locked >> 1 & 1 ? 0 : below(2) << 12)));  // c.jr, c.jalr
        u.at = 2;
    }
    m_out.units.push_back(std::move(u));
}

void generator::loop(bool rewriting) {
    if (m_loop_depth >= 2) return;
    const auto counter = scratch();
    unit begin;
    begin.code = halves({addi(counter, 0, 2 + static_cast<int>(below(6)))});
    begin.fixed = true;
    const auto first = m_out.units.size();
    m_out.units.push_back(begin);
    const auto locked = m_locked;
    m_locked |= 1u << counter;
    ++m_loop_depth;
    if (rewriting)
        rewrite_code();
    else
        for (auto n = 3 + below(8); n; --n) one();
    --m_loop_depth;
    m_locked = locked;
    unit end;
    end.code = halves({addi(counter, counter, -1), 0x63 | 1 << 12 | counter << 15});
    end.kind = unit::patch::branch;
    end.at = end.origin = 2;
    end.target = first + 1;
    end.fixed = true;
    const auto last = m_out.units.size();
    m_out.units.push_back(end);
    // Who jumps into the loop from before it must set the counter.
    for (std::size_t n = 0; n < first; ++n) {
        auto& u = m_out.units[n];
        if (u.kind != unit::patch::none && u.target > first && u.target <= last) u.target = first;
    }
}

}  // namespace differential
