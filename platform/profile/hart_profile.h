// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "platform/profile/code_files.h"
#include "platform/profile/execution_counts.h"
#include "platform/profile/sampling.h"
#include "platform/profile/stack_counts.h"
#include "riscv/hart.h"

namespace fabricvp {

/// Samples a hart, and counts what it executes. A sample is the instruction that the hart executes at that time of its
/// own, with its callers; or what it waits for.
class hart_profile final : public riscv::hart_probe {
public:
    /// \param files where its code may come from, shared by harts with the same memory
    hart_profile(riscv::hart& h, code_files& files, stack_counts& stacks);
    ~hart_profile();

    void sample(const sampling& when);
    /// Accounts samples up to a time at which nothing runs.
    void settle(ticks now);
    /// \param of_physical the file with the code at a physical address; null: none
    void report(execution_counts& to, const std::function<debug_file*(std::uint64_t physical)>& of_physical) const;

    std::uint32_t decoded(std::uint64_t physical, const riscv::block& code) override;
    void entered(const riscv::hart& h, std::uint32_t number, const riscv::block& code, std::uint64_t pc, ticks begin,
                 ticks end) override;
    void left(std::uint32_t number, unsigned executed) override;
    void rests(const riscv::hart& h, riscv::hart_rest why, ticks at) override;

private:
    struct code_block {
        std::uint64_t physical = 0;
        std::uint64_t entered = 0;
        std::vector<std::uint16_t> offsets;  // of its instructions
        std::vector<std::uint64_t> cut;      // by instruction: how often this and those behind it were not executed
    };
    void account_until(ticks at);
    void take(std::uint64_t leaf, std::uint64_t samples);
    stack_counts::stack stack_at(std::uint64_t leaf);

    riscv::hart& m_hart;
    code_files& m_files;
    stack_counts& m_stacks;
    const debug_file::reader m_read;
    sampling m_when;
    ticks m_next = never;       // sample
    riscv::hart_frame m_frame;  // where its last block began, or where it rests
    std::uint64_t m_last = 0;   // instruction of that block
    riscv::hart_rest m_rest = riscv::hart_rest::none;
    std::vector<code_block> m_blocks;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> m_numbers;  // of blocks, by physical address
};

}  // namespace fabricvp
