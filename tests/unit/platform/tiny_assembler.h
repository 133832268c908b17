// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace fabricvp::test {

/// As much of an assembler as test programs need: a few RV64I instructions, labels for branches.
class tiny_assembler {
public:
    enum reg : unsigned { zero = 0, ra = 1, t0 = 5, t1 = 6, t2 = 7, a0 = 10, a1 = 11 };

    void label(const std::string& name) { m_labels[name] = m_words.size(); }
    void lui(reg d, std::uint32_t upper) { put(upper << 12 | d << 7 | 0x37); }
    void addi(reg d, reg s, int n) { put(field(n) << 20 | s << 15 | d << 7 | 0x13); }
    void addiw(reg d, reg s, int n) { put(field(n) << 20 | s << 15 | d << 7 | 0x1b); }
    void andi(reg d, reg s, int n) { put(field(n) << 20 | s << 15 | 7 << 12 | d << 7 | 0x13); }
    void lbu(reg d, reg base, int n) { put(field(n) << 20 | base << 15 | 4 << 12 | d << 7 | 0x03); }
    void sb(reg s, reg base, int n) { store(s, base, n, 0); }
    void sw(reg s, reg base, int n) { store(s, base, n, 2); }
    void sd(reg s, reg base, int n) { store(s, base, n, 3); }
    void auipc(reg d, std::uint32_t upper) { put(upper << 12 | d << 7 | 0x17); }
    void wfi() { put(0x10500073); }
    void beq(reg a, reg b, const std::string& to) { branch(a, b, to, 0); }
    void bne(reg a, reg b, const std::string& to) { branch(a, b, to, 1); }
    void jump(const std::string& to) { branch(zero, zero, to, 0); }

    /// A 32-bit constant.
    void li(reg d, std::uint32_t value) {
        lui(d, (value + 0x800) >> 12);
        addiw(d, d, static_cast<int>(value << 20) >> 20);
    }

    /// Stores `value` as a word at `address`.
    void poke(std::uint32_t address, std::uint32_t value) {
        li(t0, address);
        li(t1, value);
        sw(t1, t0, 0);
    }

    std::string binary() {
        for (const auto& f : m_fixes) {
            const auto distance =
                static_cast<std::uint32_t>((static_cast<int>(m_labels.at(f.to)) - static_cast<int>(f.at)) * 4);
            m_words[f.at] |= (distance >> 12 & 1) << 31 | (distance >> 5 & 0x3f) << 25 | (distance >> 1 & 0xf) << 8 |
                             (distance >> 11 & 1) << 7;
        }
        m_fixes.clear();
        return {reinterpret_cast<const char*>(m_words.data()), m_words.size() * 4};
    }

private:
    struct fix {
        std::size_t at;
        std::string to;
    };
    static std::uint32_t field(int n) { return static_cast<std::uint32_t>(n) & 0xfff; }
    void put(std::uint32_t word) { m_words.push_back(word); }
    void store(reg s, reg base, int n, unsigned width) {
        put((field(n) >> 5) << 25 | s << 20 | base << 15 | width << 12 | (field(n) & 0x1f) << 7 | 0x23);
    }
    void branch(reg a, reg b, const std::string& to, unsigned kind) {
        m_fixes.push_back({m_words.size(), to});
        put(b << 20 | a << 15 | kind << 12 | 0x63);
    }

    std::vector<std::uint32_t> m_words;
    std::map<std::string, std::size_t> m_labels;
    std::vector<fix> m_fixes;
};

}  // namespace fabricvp::test
