// SPDX-License-Identifier: Apache-2.0
// Writes x86-64 code for one block. Registers of the host hold
//   rbx  the hart's registers        r12  the budget       r14  the context of links
//   r13  the TLB                     rbp  instructions     r15  the block's program counter
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#ifdef FABRICVP_TRANSLATOR
#include <xbyak/xbyak.h>
#endif

#include "riscv/block.h"
#include "riscv/instruction.h"
#include "riscv/translator_functions.h"

namespace fabricvp::riscv {

#ifdef FABRICVP_TRANSLATOR
/// Enters and leaves translated code: 256 bytes of `memory` are used.
class frame_emitter : private Xbyak::CodeGenerator {
public:
    static constexpr std::size_t size = 256;
    explicit frame_emitter(std::byte* memory);

    const void* enter;  ///< takes a translated_frame and where to begin, and loads the registers above
    const void* leave;  ///< stores them back, and returns what rax has; rcx: the block
};

class block_emitter : private Xbyak::CodeGenerator {
public:
    /// More than the code of any block with so many operations takes, in bytes.
    static constexpr std::size_t most(unsigned operations) { return 256 + 256 * std::size_t{operations}; }

    /// \param memory `size` bytes for the code
    block_emitter(block& b, std::byte* memory, std::size_t size, const void* leave, const void* jumps,
                  unsigned jump_entries);

    /// Operation k. \returns false if it is left to the dispatch loop
    bool operation(unsigned k, opcode op);
    /// Goes on in the block behind.
    void block_end(unsigned k);
    /// The dispatch loop goes on at operation k.
    void hand_over(unsigned k);
    /// Sets the block's entries. \returns the bytes of its code
    std::size_t finish();

private:
    struct cold_exit {
        Xbyak::Label at;
        unsigned operation;
    };

    /// A floating-point operation whose function is called, apart from the way that is mostly taken.
    struct cold_call {
        Xbyak::Label at, back;
        unsigned operation;
        float_function f;
    };

    Xbyak::Address guest(unsigned r) { return qword[rbx + 8 * r]; }
    void load(const Xbyak::Reg64& to, unsigned r) { mov(to, guest(r)); }
    void store(unsigned r) { mov(guest(r), rax); }
    const Xbyak::Label& exit_at(unsigned k);
    bool inlined(const block_op& o, opcode op);
    void call_function(const block_op& o, integer_function f, operand_format format);
    /// Leaves the host's address in rax. The instruction's immediate counts if it is `displaced`.
    void translate_address(unsigned k, const block_op& o, std::size_t set, unsigned size, bool displaced = true);
    void load_memory(unsigned k, const block_op& o, opcode op);
    void store_memory(unsigned k, const block_op& o, opcode op);
    void atomic(unsigned k, const block_op& o, opcode op);
    // translator_float.cpp
    bool float_operation(unsigned k, const block_op& o, opcode op);
    void load_float(unsigned k, const block_op& o, unsigned size);
    void store_float(unsigned k, const block_op& o, unsigned size);
    bool moved(const block_op& o, opcode op);
    /// \returns false if it is not one of the instructions that the host has
    bool arithmetic(const block_op& o, opcode op, cold_call& otherwise);
    void call_float_function(cold_call& c);
    void mark_dirty();
    /// Leaves the entry of the block that a link names in rdx.
    void successor(unsigned k, unsigned link);
    /// Leaves the entry of the block whose address is in rdx in rdx.
    void entry_of_target(unsigned k);
    void branch(unsigned k, const block_op& o, opcode op);
    void jump(unsigned k, const block_op& o);
    void jump_register(unsigned k, const block_op& o);

    block& m_block;
    const void *const m_leave, *const m_jumps;
    const unsigned m_jump_entries;
    const void* m_body;
    Xbyak::Label m_out_of_budget, m_exit;
    std::deque<cold_exit> m_exits;
    std::deque<cold_call> m_calls;
    bool m_marked_dirty = false;  ///< mstatus.FS, by an operation before
};
#endif

}  // namespace fabricvp::riscv
