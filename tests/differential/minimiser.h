// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "comparison.h"
#include "guest_memory.h"
#include "program.h"

namespace differential {

/// Both machines with their memories.
class bench {
public:
    /// \param translate_after simulation.translate_after of ours
    bench(const std::string& runtime_elf, unsigned translate_after);

    /// Runs the program, or only one sequence of it. A machine that fails counts as a difference.
    std::optional<difference> try_program(const program& p, long only = -1);
    /// Executed in the last run, without what the runtime needs around the sequences and for traps.
    std::uint64_t random_instructions() const;
    std::uint64_t instructions() const { return m_instructions; }
    std::uint64_t traps() const;

private:
    void prepare(guest_memory& m, const program& p, long only);

    std::string m_runtime;
    const unsigned m_translate_after;
    guest_memory m_ours, m_theirs;
    std::uint64_t m_instructions = 0;
    std::size_t m_sequences = 0;
};

/// Removes units of sequence `n` as long as the machines still differ. \returns the last difference, nothing if the
/// sequence alone makes none.
std::optional<difference> minimise(program& p, std::size_t n, bench& b);

/// Disassembly, by objdump where it is installed, and the state that the sequence starts with.
std::string listing(const sequence& s, std::uint64_t address);

}  // namespace differential
