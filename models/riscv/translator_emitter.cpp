// SPDX-License-Identifier: Apache-2.0
#include "riscv/translator_emitter.h"

#include <cstddef>
#include <cstring>

#include "riscv/translator.h"
#include "riscv/translator_functions.h"

namespace fabricvp::riscv {

using namespace Xbyak::util;
using u64 = std::uint64_t;
using i64 = std::int64_t;

namespace {
u64 address_of(const void* p) { return reinterpret_cast<u64>(p); }
}  // namespace

frame_emitter::frame_emitter(std::byte* memory) : CodeGenerator(size, memory) {
    const Xbyak::Reg64 saved[] = {rbx, rbp, r12, r13, r14, r15};
    enter = getCurr();
    for (const auto& r : saved) push(r);
    push(rdi);  // which keeps the stack aligned for calls
    mov(rbx, ptr[rdi + offsetof(translated_frame, x)]);
    mov(r13, ptr[rdi + offsetof(translated_frame, view)]);
    mov(r12, ptr[rdi + offsetof(translated_frame, budget)]);
    mov(rbp, ptr[rdi + offsetof(translated_frame, retired)]);
    mov(r15, ptr[rdi + offsetof(translated_frame, pc)]);
    mov(r14, ptr[rdi + offsetof(translated_frame, context)]);
    jmp(rsi);
    leave = getCurr();
    pop(rdi);
    mov(ptr[rdi + offsetof(translated_frame, budget)], r12);
    mov(ptr[rdi + offsetof(translated_frame, retired)], rbp);
    mov(ptr[rdi + offsetof(translated_frame, pc)], r15);
    mov(ptr[rdi + offsetof(translated_frame, current)], rcx);
    for (auto i = std::size(saved); i-- > 0;) pop(saved[i]);
    ret();
}

block_emitter::block_emitter(block& b, std::byte* memory, std::size_t size, const void* leave, const void* jumps,
                             unsigned jump_entries)
    : CodeGenerator(size, memory), m_block(b), m_leave(leave), m_jumps(jumps), m_jump_entries(jump_entries) {
    test(r12, r12);
    jle(m_out_of_budget, T_NEAR);
    sub(r12, b.cost);
    add(rbp, b.instructions);
    m_body = getCurr();
}

std::size_t block_emitter::finish() {
    for (auto& c : m_calls) call_float_function(c);
    for (auto& e : m_exits) {
        L(e.at);
        hand_over(e.operation);
    }
    L(m_out_of_budget);
    xor_(eax, eax);
    L(m_exit);
    mov(rcx, address_of(&m_block));
    mov(rdx, address_of(m_leave));
    jmp(rdx);
    m_block.entry = getCode();
    m_block.body = m_body;
    return getSize();
}

const Xbyak::Label& block_emitter::exit_at(unsigned k) {
    if (m_exits.empty() || m_exits.back().operation != k) m_exits.push_back({{}, k});
    return m_exits.back().at;
}

void block_emitter::hand_over(unsigned k) {
    mov(rax, address_of(&m_block.ops()[k]));
    jmp(m_exit, T_NEAR);
}

bool block_emitter::operation(unsigned k, opcode op) {
    const auto& o = m_block.ops()[k];
    const auto format = info(op).format;
    switch (format) {
        case operand_format::nothing: return true;
        case operand_format::upper: mov(rax, i64{o.immediate}), store(o.rd); return true;
        case operand_format::upper_pc: lea(rax, ptr[r15 + o.immediate]), store(o.rd); return true;
        case operand_format::register_register:
        case operand_format::register_immediate:
        case operand_format::register_shift:
        case operand_format::register_only:
            if (inlined(o, op)) return true;
            if (const auto f = integer_function_of(op)) return call_function(o, f, format), true;
            return false;
        case operand_format::load: load_memory(k, o, op); return true;
        case operand_format::store: store_memory(k, o, op); return true;
        case operand_format::branch: branch(k, o, op); return true;
        case operand_format::jump: jump(k, o); return true;
        case operand_format::jump_register: jump_register(k, o); return true;
        case operand_format::atomic: atomic(k, o, op); return true;
        case operand_format::float_load: load_float(k, o, op == opcode::flw ? 4 : 8); return true;
        case operand_format::float_store: store_float(k, o, op == opcode::fsw ? 4 : 8); return true;
        default: return float_operation(k, o, op);
    }
}

bool block_emitter::inlined(const block_op& o, opcode op) {
    const bool shift_by_register = op == opcode::sll || op == opcode::srl || op == opcode::sra || op == opcode::sllw ||
                                   op == opcode::srlw || op == opcode::sraw;
    load(rax, o.rs1);
    if (shift_by_register) load(rcx, o.rs2);
    const auto second = guest(o.rs2);
    const auto second_32 = dword[rbx + 8 * o.rs2];
    const auto imm = o.immediate;
    switch (op) {
        case opcode::add: add(rax, second); break;
        case opcode::sub: sub(rax, second); break;
        case opcode::and_: and_(rax, second); break;
        case opcode::or_: or_(rax, second); break;
        case opcode::xor_: xor_(rax, second); break;
        case opcode::mul: imul(rax, second); break;
        case opcode::sll: shl(rax, cl); break;
        case opcode::srl: shr(rax, cl); break;
        case opcode::sra: sar(rax, cl); break;
        case opcode::addw: add(eax, second_32), movsxd(rax, eax); break;
        case opcode::subw: sub(eax, second_32), movsxd(rax, eax); break;
        case opcode::mulw: imul(eax, second_32), movsxd(rax, eax); break;
        case opcode::sllw: shl(eax, cl), movsxd(rax, eax); break;
        case opcode::srlw: shr(eax, cl), movsxd(rax, eax); break;
        case opcode::sraw: sar(eax, cl), movsxd(rax, eax); break;
        case opcode::slt: cmp(rax, second), setl(al), movzx(eax, al); break;
        case opcode::sltu: cmp(rax, second), setb(al), movzx(eax, al); break;
        case opcode::addi:
            if (imm) add(rax, imm);
            break;
        case opcode::andi: and_(rax, imm); break;
        case opcode::ori: or_(rax, imm); break;
        case opcode::xori: xor_(rax, imm); break;
        case opcode::slti: cmp(rax, imm), setl(al), movzx(eax, al); break;
        case opcode::sltiu: cmp(rax, imm), setb(al), movzx(eax, al); break;
        case opcode::slli: shl(rax, imm); break;
        case opcode::srli: shr(rax, imm); break;
        case opcode::srai: sar(rax, imm); break;
        case opcode::addiw: add(eax, imm), movsxd(rax, eax); break;
        case opcode::slliw: shl(eax, imm), movsxd(rax, eax); break;
        case opcode::srliw: shr(eax, imm), movsxd(rax, eax); break;
        case opcode::sraiw: sar(eax, imm), movsxd(rax, eax); break;
        default: return false;
    }
    store(o.rd);
    return true;
}

void block_emitter::call_function(const block_op& o, integer_function f, operand_format format) {
    load(rdi, o.rs1);
    const i64 immediate = o.immediate;
    if (format == operand_format::register_register) {
        load(rsi, o.rs2);
    } else if (format != operand_format::register_only) {
        mov(rsi, format == operand_format::register_shift ? immediate & 0xffff'ffff : immediate);
    }
    mov(rax, reinterpret_cast<u64>(f));
    call(rax);
    store(o.rd);
}

void block_emitter::translate_address(unsigned k, const block_op& o, std::size_t set, unsigned size, bool displaced) {
    static_assert(sizeof(tlb_entry) == 16 && tlb_set::entries == 256);
    load(rax, o.rs1);
    if (displaced && o.immediate) add(rax, o.immediate);
    mov(rcx, rax);
    shr(rcx, 8);
    and_(ecx, 0xff0);
    mov(rdx, rax);
    and_(rdx, static_cast<std::int32_t>(~0xfffu | (size - 1)));
    cmp(rdx, qword[r13 + rcx + set + offsetof(tlb_entry, tag)]);
    jne(exit_at(k), T_NEAR);
    add(rax, qword[r13 + rcx + set + offsetof(tlb_entry, addend)]);
}

void block_emitter::load_memory(unsigned k, const block_op& o, opcode op) {
    const auto find = [&](unsigned size) { translate_address(k, o, offsetof(tlb_set, read), size); };
    switch (op) {
        case opcode::lb: find(1), movsx(rax, byte[rax]); break;
        case opcode::lbu: find(1), movzx(eax, byte[rax]); break;
        case opcode::lh: find(2), movsx(rax, word[rax]); break;
        case opcode::lhu: find(2), movzx(eax, word[rax]); break;
        case opcode::lw: find(4), movsxd(rax, dword[rax]); break;
        case opcode::lwu: find(4), mov(eax, dword[rax]); break;
        default: find(8), mov(rax, qword[rax]); break;
    }
    store(o.rd);
}

void block_emitter::store_memory(unsigned k, const block_op& o, opcode op) {
    const unsigned size = op == opcode::sb ? 1 : op == opcode::sh ? 2 : op == opcode::sw ? 4 : 8;
    translate_address(k, o, offsetof(tlb_set, write), size);
    load(rcx, o.rs2);
    switch (size) {
        case 1: mov(byte[rax], cl); break;
        case 2: mov(word[rax], cx); break;
        case 4: mov(dword[rax], ecx); break;
        default: mov(qword[rax], rcx); break;
    }
}

void block_emitter::atomic(unsigned k, const block_op& o, opcode op) {
    translate_address(k, o, offsetof(tlb_set, write), info(op).match & 0x1000 ? 8 : 4, false);
    mov(rdi, rax);
    load(rsi, o.rs2);
    mov(rax, reinterpret_cast<u64>(atomic_function_of(op)));
    call(rax);
    store(o.rd);
}

void block_emitter::successor(unsigned k, unsigned link) {
    mov(rcx, address_of(&m_block.links[link]));
    cmp(r14, qword[rcx + offsetof(block_link, context)]);
    jne(exit_at(k), T_NEAR);
    mov(rdx, qword[rcx + offsetof(block_link, target)]);
    entry_of_target(k);
}

void block_emitter::entry_of_target(unsigned k) {
    mov(rdx, qword[rdx + offsetof(block, entry)]);
    test(rdx, rdx);
    jz(exit_at(k), T_NEAR);
}

void block_emitter::branch(unsigned k, const block_op& o, opcode op) {
    Xbyak::Label taken;
    load(rax, o.rs1);
    cmp(rax, guest(o.rs2));
    switch (op) {
        case opcode::beq: je(taken, T_NEAR); break;
        case opcode::bne: jne(taken, T_NEAR); break;
        case opcode::blt: jl(taken, T_NEAR); break;
        case opcode::bge: jge(taken, T_NEAR); break;
        case opcode::bltu: jb(taken, T_NEAR); break;
        default: jae(taken, T_NEAR); break;
    }
    successor(k, 1);
    add(r15, m_block.length);
    jmp(rdx);
    L(taken);
    successor(k, 0);
    add(r15, o.immediate);
    jmp(rdx);
}

void block_emitter::jump(unsigned k, const block_op& o) {
    successor(k, 0);
    lea(rax, ptr[r15 + m_block.length]);
    store(o.rd);
    add(r15, o.immediate);
    jmp(rdx);
}

void block_emitter::jump_register(unsigned k, const block_op& o) {
    load(rsi, o.rs1);
    if (o.immediate) add(rsi, o.immediate);
    and_(rsi, -2);
    mov(ecx, esi);
    shr(ecx, 1);
    and_(ecx, m_jump_entries - 1);
    shl(ecx, 5);
    mov(rdx, address_of(m_jumps));
    add(rcx, rdx);
    cmp(rsi, qword[rcx + 0]);
    jne(exit_at(k), T_NEAR);
    cmp(r14, qword[rcx + 8]);
    jne(exit_at(k), T_NEAR);
    mov(rdx, qword[rcx + 24]);
    entry_of_target(k);
    lea(rax, ptr[r15 + m_block.length]);
    store(o.rd);
    mov(r15, rsi);
    jmp(rdx);
}

void block_emitter::block_end(unsigned k) {
    successor(k, 0);
    add(r15, m_block.ops()[k].immediate);
    jmp(rdx);
}

}  // namespace fabricvp::riscv
