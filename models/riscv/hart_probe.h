// SPDX-License-Identifier: Apache-2.0
// What a hart tells about the code that it executes, for profiles and coverage. While no probe is attached, blocks are
// decoded without the operation that tells, so that this costs nothing; simulated time is the same in both cases.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace fabricvp::riscv {

class hart;
struct block;

/// What a hart does where it executes no code.
enum class hart_rest : std::uint8_t {
    none,       ///< it executes, or waits for memory that it reaches directly
    access,     ///< an access is under way on its bus
    polls,      ///< it sleeps over rounds of a loop that polls
    interrupt,  ///< wfi
    stopped,    ///< it is not started
    count
};

/// Where a backtrace begins: registers by the calling convention (RISC-V psABI).
struct hart_frame {
    std::uint64_t pc = 0, ra = 0, sp = 0, fp = 0;
    unsigned mode = 3;        ///< privilege level
    bool translated = false;  ///< addresses are virtual
};

/// Called while a slice runs: it may look at the hart with frame() and peek(), and must change nothing.
class hart_probe {
public:
    /// A block of code was decoded. \param physical address of its first byte \returns its number for entered()
    virtual std::uint32_t decoded(std::uint64_t physical, const block& code) = 0;
    /// It executes the block from `begin` to `end`, local time.
    virtual void entered(const hart& h, std::uint32_t number, const block& code, std::uint64_t pc, ticks begin,
                         ticks end) = 0;
    /// The block was left before its end. \param executed instructions of it
    virtual void left(std::uint32_t number, unsigned executed) = 0;
    /// It executes nothing from `at` to the next entered(). The frame is that of the instruction that waits.
    virtual void rests(const hart& h, hart_rest why, ticks at) = 0;

protected:
    ~hart_probe() = default;
};

}  // namespace fabricvp::riscv
