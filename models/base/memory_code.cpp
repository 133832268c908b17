// SPDX-License-Identifier: Apache-2.0
#include "base/memory_code.h"

#include "base/adjacent_bits.h"

namespace fabricvp {

namespace {
constexpr std::uint64_t word_bytes = 8;
constexpr std::uint64_t word_of(std::uint64_t offset) { return offset & ~(word_bytes - 1); }
}  // namespace

void memory_code::flip_arguments::describe(parameter_visitor& v) {
    v.field("offset", offset, between{0, static_cast<double>(size - 1)}, "byte of the memory");
    v.field("bit", bit, between{0, 7}, "first of its bits that flips");
    v.field("bits", bits, between{1, 2}, "how many flip, one beside the other in the word of 64 bits");
}

memory_code::memory_code(const sc_core::sc_object& owner, sparse_memory& memory, bool protects)
    : corrected(owner, "corrected_errors", "1", "words of 64 bits with one wrong bit that the code has corrected"),
      uncorrected(owner, "uncorrected_errors", "1", "words with two wrong bits that were reached"),
      flip(owner, "flip", "bits of the memory flip", [this](const flip_arguments& a) { happen(a); },
           {0, 0, 1, memory.size()}),
      m_memory(memory),
      m_protects(protects) {
    if (protects) memory.set_checker(*this);
}

void memory_code::happen(const flip_arguments& a) {
    const auto word = word_of(a.offset);
    const auto flips = adjacent_bits(a.offset % word_bytes * 8 + a.bit, a.bits);
    if (!m_protects) {
        std::uint64_t value = 0;
        m_memory.read(word, &value, sizeof value);
        value ^= flips;
        m_memory.write(word, &value, sizeof value);
        return;
    }
    auto& state = m_words[word];
    state.flips ^= flips;
    state.met = false;
    if (state.flips)
        m_memory.mark_faulty(word >> sparse_memory::page_bits);
    else
        correct(word);
}

void memory_code::correct(std::uint64_t word) {
    m_words.erase(word);
    clear_page_of(word);
}

void memory_code::clear_page_of(std::uint64_t word) {
    const auto page = word >> sparse_memory::page_bits;
    const auto next = m_words.lower_bound(page << sparse_memory::page_bits);
    if (next == m_words.end() || next->first >> sparse_memory::page_bits != page)
        m_memory.clear_mark(page, sparse_memory::faulty);
}

bool memory_code::reached(std::uint64_t offset, std::uint64_t size) {
    bool readable = true;
    for (auto at = m_words.lower_bound(word_of(offset)); at != m_words.end() && at->first < offset + size;) {
        auto& [word, state] = *at++;
        const auto where = word;
        if (!(state.flips & (state.flips - 1))) {
            ++corrected;
            correct(where);
            if (on_error) on_error(where, true);
            continue;
        }
        readable = false;
        if (state.met) continue;
        state.met = true;
        ++uncorrected;
        if (on_error) on_error(where, false);
    }
    return readable;
}

/// A word that is written in part is read first: one wrong bit is corrected, and two stay.
void memory_code::overwritten(std::uint64_t offset, std::uint64_t size) {
    for (auto at = m_words.lower_bound(word_of(offset)); at != m_words.end() && at->first < offset + size;) {
        const auto word = at->first;
        const auto flips = at->second.flips;
        ++at;
        const bool whole = offset <= word && word + word_bytes <= offset + size;
        if (!whole && flips & (flips - 1)) continue;
        correct(word);
        if (whole) continue;
        ++corrected;
        if (on_error) on_error(word, true);
    }
}

}  // namespace fabricvp
