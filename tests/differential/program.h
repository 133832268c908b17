// SPDX-License-Identifier: Apache-2.0
// A batch of random sequences as the guest sees it: code, descriptors, page tables, windows.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace differential {

/// A few instructions that belong together. Branches name the unit they go to.
struct unit {
    enum class patch : std::uint8_t { none, branch, jump, compressed_branch, compressed_jump, low_immediate };
    std::vector<std::uint16_t> code;
    patch kind = patch::none;
    unsigned at = 0;      ///< halfword that holds the offset
    unsigned origin = 0;  ///< halfword that the offset counts from
    std::size_t target = 0;
    bool fixed = false;  ///< holds a loop together; a minimiser must not remove it
};

struct sequence {
    std::vector<unit> units;
    std::uint64_t status = 0, satp = 0, medeleg = 0, fcsr = 0;
    std::uint64_t x[32]{}, f[32]{};
};

struct image_options {
    std::uint64_t seed = 1;
    unsigned sequences = 500;
    unsigned units = 120;  ///< of each sequence, about
};

/// Everything of one run, as bytes at layout.h's addresses.
class program {
public:
    explicit program(const image_options& options);

    std::size_t size() const { return m_sequences.size(); }
    sequence& at(std::size_t n) { return m_sequences[n]; }
    /// The sequence's machine code, position-independent, with the ecall that ends it.
    static std::vector<std::uint8_t> assemble(const sequence& s);
    /// Writes into `memory`, whose first byte is that of DRAM. `only` ≥ 0 leaves out all other sequences.
    void place(std::uint8_t* memory, long only = -1) const;
    std::uint64_t entry(std::size_t n) const { return m_entries[n]; }

private:
    struct page_set {
        std::uint64_t satp;
        bool user;
        std::vector<unsigned> open;  ///< pages of the window that the mode may read and write
        unsigned code_page;
    };
    void build_page_sets();
    void build_sequence(std::size_t n);

    image_options m_options;
    std::mt19937_64 m_random;
    std::vector<page_set> m_sets;
    std::vector<sequence> m_sequences;
    mutable std::vector<std::uint64_t> m_entries;
    std::vector<std::uint64_t> m_tables;
};

}  // namespace differential
