// SPDX-License-Identifier: Apache-2.0
// Blocks that are entered often become code of the host: registers, loads and stores that hit the TLB, branches. It
// goes from block to block by the same links as the dispatch loop, with the same costs, and hands over to the loop at
// each operation that it cannot complete: a TLB miss, a CSR, an unknown successor. So both give the same results.
#pragma once

#include <cstdint>

#include "riscv/block.h"
#include "riscv/decoder.h"
#include "riscv/host_code.h"
#include "riscv/tlb.h"

namespace fabricvp::riscv {

/// Registers of the dispatch loop, on the way into translated code and back.
struct translated_frame {
    std::uint64_t* x;
    tlb_set* view;
    std::int64_t budget;
    std::uint64_t retired, pc, context;
    block* current;  ///< the block that goes on in the loop
};

class translator {
public:
    /// \param labels handlers of the dispatch loop
    /// \param jumps the cache of jump targets: entries of 32 bytes with pc, context, …, target
    translator(const void* const* labels, const decoder_options& decoding, const void* jumps, unsigned jump_entries);

    /// Sets the block's entries. \returns false where it has nothing to translate, or there is no memory for code
    bool translate(block& b, host_code& memory);
    /// Executes from behind the entry of a translated block. \returns the operation where the dispatch loop goes on;
    /// null: the budget is used up, at frame.pc
    const block_op* run(translated_frame& frame, const void* body) const { return m_enter(&frame, body); }

    /// Whether this build has a translator for its host.
    static bool available();

private:
    const void* const* m_labels;
    const decoder_options& m_decoding;
    const void* m_jumps;
    unsigned m_jump_entries;
    const block_op* (*m_enter)(translated_frame*, const void*) = nullptr;
    const void* m_leave = nullptr;
};

/// What translate_after() (slicing.h) was given; 0 without a translator.
unsigned translated_after();

}  // namespace fabricvp::riscv
