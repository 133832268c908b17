// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/memory_errors.h"

#include <cstring>

#include "base/adjacent_bits.h"
#include "gpu/memory/line_bytes.h"

namespace fabricvp::gpu {

void memory_errors::flip_arguments::describe(parameter_visitor& v) {
    v.field("offset", offset, between{0, static_cast<double>(capacity - 1)}, "byte of the memory; its word is hit");
    v.field("bit", bit, between{0, 63}, "first bit that flips, of the 64 of the word");
    v.field("bits", bits, between{1, 2}, "how many flip, one beside the other in the word");
}

memory_errors::memory_errors(const sc_core::sc_object& owner, bool ecc)
    : corrected(owner, "corrected_errors", "1", "words of 64 bits with one wrong bit that ECC has corrected"),
      uncorrected(owner, "uncorrected_errors", "1", "words with two wrong bits, which ECC has poisoned"),
      flip(owner, "flip", "bits of a word flip in the memory's cells",
           [this](const flip_arguments& a) {
               m_flipped[a.offset & ~std::uint64_t{line_bytes - 1}][a.offset / 8 % words] ^=
                   adjacent_bits(a.bit, a.bits);
           }),
      m_ecc(ecc) {}

void memory_errors::fetched(std::uint64_t line, gpu_memory& memory) {
    const auto found = m_flipped.find(line);
    if (found == m_flipped.end()) return;
    for (unsigned word = 0; word < words; ++word) {
        const std::uint64_t flips = found->second[word];
        if (!flips) continue;
        if (m_ecc && !(flips & (flips - 1))) {
            ++corrected;
            continue;
        }
        if (m_ecc) {
            ++uncorrected;
            poison(line, word);
        }
        memory.store(line + 8 * word, 8, memory.load(line + 8 * word, 8) ^ flips);
    }
    m_flipped.erase(found);
}

reached_bytes bytes_reached(const line_request& r) {
    switch (r.kind) {
        case access_kind::read: return {r.sectored ? bytes_of_sectors(r.needed_sectors) : ~std::uint64_t{0}, 0};
        case access_kind::atomic: return {r.operands ? r.byte_mask : bytes_of(r.offset, r.size), 0};
        case access_kind::load_reserved:
        case access_kind::store_conditional: return {bytes_of(r.offset, r.size), 0};
        case access_kind::write: return {0, r.byte_mask};
        default: return {};
    }
}

bool memory_errors::allows(line_request& r) {
    const auto found = m_poisoned.find(offset_of(r.line));
    if (found == m_poisoned.end()) return true;
    std::uint64_t& poisoned = found->second;
    const auto [wanted, written] = bytes_reached(r);
    if (!(wanted & poisoned)) {
        for (unsigned word = 0; word < words; ++word) {  // what is written in part cannot be encoded anew
            const std::uint64_t all = std::uint64_t{0xff} << 8 * word;
            if ((written & all) == all) poisoned &= ~all;
        }
        if (!poisoned) m_poisoned.erase(found);
        return true;
    }
    r.fault = memory_fault::poisoned;
    return false;
}

}  // namespace fabricvp::gpu
