// SPDX-License-Identifier: Apache-2.0
// Draws the random units of one sequence.
//
// Registers: x3 points into the sequence's window and is never written. x2, x8 and x9 point there too; who writes them
// restores them in the same unit, so that loads and stores (also compressed ones) always have a base. Everything else
// is free. Code jumps forward only, and back in counted loops.
#pragma once

#include <random>

#include "encodings.h"
#include "program.h"

namespace differential {

enum class mode : unsigned { user = 0, supervisor = 1, machine = 3 };

struct environment {
    mode level = mode::machine;
    bool translated = false;
    bool user_pages = false;
    std::vector<unsigned> open_pages;  ///< translated: pages of the window that can be read and written
    unsigned code_page = 0;            ///< translated: page that is full of returns
    std::vector<std::uint64_t> satps;  ///< legal values to write
};

class generator {
public:
    generator(std::mt19937_64& random, const environment& env, sequence& out);
    void run(unsigned units);
    std::uint64_t random_integer();
    std::uint64_t random_float();

private:
    using word_list = std::vector<std::uint32_t>;

    bool chance(unsigned percent) { return m_random() % 100 < percent; }
    unsigned below(unsigned n) { return static_cast<unsigned>(m_random() % n); }
    template <class T>
    const T& any(const std::vector<T>& list) {
        return list[m_random() % list.size()];
    }

    unsigned source() { return below(32); }
    unsigned destination();
    unsigned scratch();
    unsigned window_register();

    void one();
    void put(const word_list& words, unsigned written = 0);
    void restore(unit& u, unsigned reg);
    void table_instruction(const encoding& e);
    void float_instruction(const encoding& e);
    void atomic_instruction(const encoding& e);
    void reserved_pair();
    void compressed();
    void branch();
    void indirect_jump();
    void loop(bool rewriting);
    void csr();
    void change_status();
    void return_from_trap();
    void trap();
    void wild_access();
    void fetch_elsewhere();
    void rewrite_code();
    void opcode_noise();

    std::mt19937_64& m_random;
    const environment& m_env;
    sequence& m_out;
    std::uint32_t m_locked = 0;  ///< registers that must not be written: loop counters
    unsigned m_loop_depth = 0;
};

}  // namespace differential
