// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace fabricvp::gpu {

/// Random programs whose lanes part ways: every instruction that computes, branches over each other, loops whose length
/// differs by lane, calls, recursion, calls through pointers; loads, stores and atomics on what belongs to the lane in
/// device memory, local memory and scratch memory.
///
/// A lane's data (x3): 32 words for x registers, 32 for f registers, a stretch to play with, and from `dump` on what
/// registers hold in the end.
class lane_program {
public:
    static constexpr unsigned stride = 2048, play = 512, play_size = 512, dump = 1024, local_stride = 64,
                              scratch = 1024;

    explicit lane_program(unsigned seed);

    /// Where registers are loaded; before lies what gives x3 and x5 to a lane.
    std::size_t start() const { return m_start; }
    /// The last word: gpu.end.
    const std::vector<std::uint32_t>& words() const { return m_words; }
    static constexpr unsigned end_word = 0x0b;

private:
    using word = std::uint32_t;
    unsigned pick(unsigned n) { return static_cast<unsigned>(m_random() % n); }
    unsigned any_x();
    void block(unsigned statements, unsigned loops, bool calls);
    void statement(unsigned loops, bool calls);
    void compute();
    void memory();
    void condition(unsigned loops, bool calls);
    void loop(unsigned loops);
    void call();
    void functions();
    void put(word w) { m_words.push_back(w); }
    std::size_t here() const { return m_words.size(); }

    struct reference {
        std::size_t at;
        unsigned function;
    };
    static constexpr unsigned function_count = 4;  // the last one calls itself; the first two have one size
    std::mt19937 m_random;
    std::vector<word> m_words;
    std::vector<reference> m_calls, m_indirect;
    std::size_t m_start = 0;
    unsigned m_depth = 0;
    std::size_t m_function[function_count] = {};
};

}  // namespace fabricvp::gpu
