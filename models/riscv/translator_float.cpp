// SPDX-License-Identifier: Apache-2.0
// Floating point in translated code. Once NX is set in fflags, and with rounding to the nearest, an operation whose
// result is well within the normal numbers raises nothing new (fpu.h): then the host's instruction does. All else
// calls the function of the instruction.
#include <xbyak/xbyak_util.h>

#include <cstddef>

#include "riscv/fpu.h"
#include "riscv/tlb.h"
#include "riscv/translator_emitter.h"

namespace fabricvp::riscv {

using namespace Xbyak::util;

namespace {
static_assert(offsetof(hart_state, x) == 0, "rbx is the hart's state, too");

constexpr std::size_t fflags = offsetof(hart_state, fflags), frm = offsetof(hart_state, frm);
constexpr unsigned dynamic = 7;

std::size_t place(unsigned r) { return offsetof(hart_state, f) + 8 * std::size_t{r}; }

bool host_fuses() {
    static const bool fuses = Cpu().has(Cpu::tFMA);
    return fuses;
}

bool is_double(opcode op) { return info(op).match >> 25 & 1; }
}  // namespace

void block_emitter::mark_dirty() {
    if (!m_marked_dirty) or_(qword[rbx + offsetof(hart_state, mstatus)], static_cast<std::uint32_t>(status::fs));
    m_marked_dirty = true;
}

bool block_emitter::float_operation(unsigned k, const block_op& o, opcode op) {
    const auto f = float_function_of(op);
    if (!f) return false;
    if (moved(o, op)) return true;
    auto& c = m_calls.emplace_back();
    c.operation = k;
    c.f = f;
    if (!arithmetic(o, op, c)) jmp(c.at, T_NEAR);
    L(c.back);
    const bool reads = op == opcode::fclass_s || op == opcode::fclass_d;
    if (!reads) mark_dirty();
    return true;
}

void block_emitter::load_float(unsigned k, const block_op& o, unsigned size) {
    translate_address(k, o, offsetof(tlb_set, read), size);
    if (size == 4) {
        mov(eax, dword[rax]);
        mov(dword[rbx + place(o.rd)], eax);
        mov(dword[rbx + place(o.rd) + 4], 0xffffffff);
    } else {
        mov(rax, qword[rax]);
        mov(qword[rbx + place(o.rd)], rax);
    }
    mark_dirty();
}

void block_emitter::store_float(unsigned k, const block_op& o, unsigned size) {
    translate_address(k, o, offsetof(tlb_set, write), size);
    mov(rcx, qword[rbx + place(o.rs2)]);
    if (size == 4)
        mov(dword[rax], ecx);
    else
        mov(qword[rax], rcx);
}

/// What only moves bits.
bool block_emitter::moved(const block_op& o, opcode op) {
    switch (op) {
        case opcode::fmv_x_d: mov(rax, qword[rbx + place(o.rs1)]), store(o.rd); return true;
        case opcode::fmv_x_w: movsxd(rax, dword[rbx + place(o.rs1)]), store(o.rd); return true;
        case opcode::fmv_d_x: load(rax, o.rs1), mov(qword[rbx + place(o.rd)], rax); break;
        case opcode::fsgnj_d:
            if (o.rs1 != o.rs2) return false;
            mov(rax, qword[rbx + place(o.rs1)]), mov(qword[rbx + place(o.rd)], rax);
            break;
        default: return false;
    }
    mark_dirty();
    return true;
}

bool block_emitter::arithmetic(const block_op& o, opcode op, cold_call& otherwise) {
    using scalar = void (CodeGenerator::*)(const Xbyak::Xmm&, const Xbyak::Operand&);
    using fused = void (CodeGenerator::*)(const Xbyak::Xmm&, const Xbyak::Xmm&, const Xbyak::Operand&);
    scalar two = nullptr;
    fused three = nullptr;
    switch (op) {
        case opcode::fadd_s: two = &CodeGenerator::addss; break;
        case opcode::fadd_d: two = &CodeGenerator::addsd; break;
        case opcode::fsub_s: two = &CodeGenerator::subss; break;
        case opcode::fsub_d: two = &CodeGenerator::subsd; break;
        case opcode::fmul_s: two = &CodeGenerator::mulss; break;
        case opcode::fmul_d: two = &CodeGenerator::mulsd; break;
        case opcode::fdiv_s: two = &CodeGenerator::divss; break;
        case opcode::fdiv_d: two = &CodeGenerator::divsd; break;
        // A negated product and what is added to it are one number's both signs to the host.
        case opcode::fmadd_s: three = &CodeGenerator::vfmadd213ss; break;
        case opcode::fmadd_d: three = &CodeGenerator::vfmadd213sd; break;
        case opcode::fmsub_s: three = &CodeGenerator::vfmsub213ss; break;
        case opcode::fmsub_d: three = &CodeGenerator::vfmsub213sd; break;
        case opcode::fnmsub_s: three = &CodeGenerator::vfnmadd213ss; break;
        case opcode::fnmsub_d: three = &CodeGenerator::vfnmadd213sd; break;
        case opcode::fnmadd_s: three = &CodeGenerator::vfnmsub213ss; break;
        case opcode::fnmadd_d: three = &CodeGenerator::vfnmsub213sd; break;
        default: return false;
    }
    const auto rm = static_cast<unsigned>(o.immediate);
    if ((rm != fpu::nearest_even && rm != dynamic) || (three && !host_fuses())) return false;
    test(byte[rbx + fflags], fpu::inexact);
    jz(otherwise.at, T_NEAR);
    if (rm == dynamic) {
        cmp(dword[rbx + frm], fpu::nearest_even);
        jne(otherwise.at, T_NEAR);
    }
    const bool wide = is_double(op);
    const auto boxed = [&](unsigned r) {
        if (wide) return;
        cmp(dword[rbx + place(r) + 4], -1);
        jne(otherwise.at, T_NEAR);
    };
    const auto take = [&](const Xbyak::Xmm& to, unsigned r) {
        boxed(r);
        if (wide)
            movsd(to, qword[rbx + place(r)]);
        else
            movss(to, dword[rbx + place(r)]);
    };
    take(xmm0, o.rs1);
    if (two) {
        boxed(o.rs2);
        (this->*two)(xmm0, ptr[rbx + place(o.rs2)]);
    } else {
        take(xmm1, o.rs2);
        boxed(o.rs3);
        (this->*three)(xmm0, xmm1, ptr[rbx + place(o.rs3)]);
    }
    // The exponent without those of zero, the subnormal, the smallest normal numbers, infinity and NaN.
    if (wide) {
        movq(rax, xmm0);
        lea(rcx, ptr[rax + rax]);
        shr(rcx, 53);
    } else {
        movd(eax, xmm0);
        lea(ecx, ptr[rax + rax]);
        shr(ecx, 24);
    }
    sub(ecx, 2);
    cmp(ecx, wide ? 0x7ff - 2 : 0xff - 2);
    jae(otherwise.at, T_NEAR);
    if (wide) {
        mov(qword[rbx + place(o.rd)], rax);
    } else {
        mov(dword[rbx + place(o.rd)], eax);
        mov(dword[rbx + place(o.rd) + 4], 0xffffffff);
    }
    return true;
}

void block_emitter::call_float_function(cold_call& c) {
    L(c.at);
    mov(rdi, rbx);
    mov(rsi, reinterpret_cast<std::uint64_t>(&m_block.ops()[c.operation]));
    mov(rax, reinterpret_cast<std::uint64_t>(c.f));
    call(rax);
    test(al, al);
    jz(exit_at(c.operation), T_NEAR);
    jmp(c.back, T_NEAR);
}

}  // namespace fabricvp::riscv
