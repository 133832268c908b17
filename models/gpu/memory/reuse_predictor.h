// SPDX-License-Identifier: Apache-2.0
// Whether lanes come back for the rest of a line of which one sector is needed: by what became of the last such lines
// that the same instruction fetched. A first-level cache follows each of them from the request until the line leaves.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/model.h"
#include "base/statistics.h"

namespace fabricvp::gpu {

class reuse_predictor final : public model {
public:
    static constexpr unsigned instructions = 64;  ///< in the table; the least recently used one goes

    counter trimmed{*this, "trimmed", "1", "requests whose response may be trimmed to the sector that is needed"};
    counter kept_whole{*this, "kept_whole", "1", "requests of one sector that ask for the whole line"};
    counter reused{*this, "reused", "1", "lines fetched for one sector of which another one was asked for"};
    counter unused{*this, "unused", "1", "lines fetched for one sector that left without being asked for another"};

    /// \param history lines without reuse after which an instruction's lines are trimmed again
    /// \param lines places of lines in the cache \param fetches that can be under way
    reuse_predictor(const sc_core::sc_module_name& name, std::uint64_t history, std::size_t lines, std::size_t fetches);

    /// The fetch of a line for one sector begins, for the instruction at `pc`. \param sector its mask
    void follow(unsigned fetch, std::uint64_t pc, std::uint8_t sector);
    /// A fetch begins that tells nothing: of several sectors, or of the rest of a line that is there.
    void ignore(unsigned fetch) { m_fetches[fetch] = {}; }
    /// Decides on a request of this instruction for one sector, and counts it. One of which nothing is known may be
    /// trimmed.
    bool trims(std::uint64_t pc);

    /// A load asks for sectors of a line that is being fetched, or is there.
    void asks_fetch(unsigned fetch, std::uint8_t sectors) { asks(m_fetches[fetch], sectors); }
    void asks_line(unsigned place, std::uint8_t sectors) { asks(m_lines[place], sectors); }
    /// What was fetched is at a place of the cache. If another line was there, it has left() before.
    void arrives(unsigned fetch, unsigned place) { m_lines[place] = std::exchange(m_fetches[fetch], {}); }
    /// The line at a place leaves the cache.
    void left(unsigned place);
    void all_left();

    void reset() override;

private:
    /// Of a line, from its request on; ends with the first load of another sector.
    struct lifetime {
        std::uint64_t pc = 0;
        std::uint8_t sector = 0;  // mask; 0: not followed
    };
    struct instruction {
        std::uint64_t pc;
        std::uint64_t used;    // when, in lines followed
        std::uint64_t unused;  // lines in a row that were not reused, up to the history
    };

    void asks(lifetime& line, std::uint8_t sectors) {
        if (line.sector && sectors & ~line.sector) ends(line, true);
    }
    void ends(lifetime& line, bool reuse);
    instruction* find(std::uint64_t pc);

    const std::uint64_t m_history;
    std::vector<lifetime> m_lines, m_fetches;
    std::vector<instruction> m_table;
    std::uint64_t m_clock = 0;
};

}  // namespace fabricvp::gpu
