// SPDX-License-Identifier: Apache-2.0
// Bits of a memory that flip, and a code that protects it: each aligned word of 64 bits has eight more bits that
// correct one wrong bit and detect two (SECDED). With the code the bytes of the memory stay as they were written. Words
// whose cells are wrong are kept beside it, and their pages are marked `faulty`, so that everything that reaches them
// asks. What is read with one wrong bit is corrected, in the memory too. What has two cannot be read until it is
// overwritten as a whole. More wrong bits of one word count as two, though a real code may take them for one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/fault.h"
#include "base/sparse_memory.h"
#include "base/statistics.h"

namespace fabricvp {

class memory_code final : private memory_checker {
public:
    struct flip_arguments {
        std::uint64_t offset = 0, bit = 0, bits = 1;
        std::uint64_t size = 1;  ///< bytes of the memory
        void describe(parameter_visitor& v);
    };

    counter corrected, uncorrected;
    fault_kind<flip_arguments> flip;

    /// Hears of each error that has been met. \param offset of its word
    std::function<void(std::uint64_t offset, bool corrected)> on_error;

    /// \param owner whose statistics and faults these are \param protects whether there is a code
    memory_code(const sc_core::sc_object& owner, sparse_memory& memory, bool protects);

private:
    bool reached(std::uint64_t offset, std::uint64_t size) override;
    void overwritten(std::uint64_t offset, std::uint64_t size) override;
    void happen(const flip_arguments& a);
    void correct(std::uint64_t word);
    void clear_page_of(std::uint64_t word);

    struct word_state {
        std::uint64_t flips = 0;  ///< wrong bits
        bool met = false;         ///< beyond repair, and counted
    };
    sparse_memory& m_memory;
    bool m_protects;
    std::map<std::uint64_t, word_state> m_words;  // by offset
};

}  // namespace fabricvp
