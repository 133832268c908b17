// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/l2_errors.h"

namespace fabricvp::gpu {

l2_errors::l2_errors(const sc_core::sc_object& owner, bool ecc, gpu_memory& memory, memory_errors& below)
    : corrected(owner, "corrected_errors", "1", "words of 64 bits with one wrong bit that ECC has corrected"),
      uncorrected(owner, "uncorrected_errors", "1", "words with two wrong bits, which ECC has poisoned"),
      m_ecc(ecc),
      m_memory(memory),
      m_below(below) {}

void l2_errors::flip(std::uint64_t line, unsigned word, std::uint64_t bits) {
    m_lines[line][word] ^= bits;
    if (!m_ecc) m_memory.store(line + 8 * word, 8, m_memory.load(line + 8 * word, 8) ^ bits);
}

void l2_errors::check(std::uint64_t line, unsigned word, std::uint64_t flips) {
    if (!(flips & (flips - 1))) {
        ++corrected;
        return;
    }
    ++uncorrected;
    m_below.poison(line, word);
}

void l2_errors::reached(const line_request& r) {
    const auto found = m_lines.find(offset_of(r.line));
    if (!m_ecc || found == m_lines.end()) return;
    const auto [read, written] = bytes_reached(r);
    bool left = false;
    for (unsigned word = 0; word < found->second.size(); ++word) {
        auto& flips = found->second[word];
        const std::uint64_t all = std::uint64_t{0xff} << 8 * word;
        if (flips && (read | written) & all) {
            if ((written & all) != all) check(found->first, word, flips);
            flips = 0;
        }
        left = left || flips;
    }
    if (!left) m_lines.erase(found);
}

void l2_errors::evicted(std::uint64_t line, bool dirty) {
    const auto found = m_lines.find(line);
    if (found == m_lines.end()) return;
    for (unsigned word = 0; word < found->second.size(); ++word) {
        const auto flips = found->second[word];
        if (!flips) continue;
        if (m_ecc && dirty) check(line, word, flips);
        if (!m_ecc && !dirty) m_memory.store(line + 8 * word, 8, m_memory.load(line + 8 * word, 8) ^ flips);
    }
    m_lines.erase(found);
}

}  // namespace fabricvp::gpu
