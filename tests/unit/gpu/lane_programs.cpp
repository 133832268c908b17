// SPDX-License-Identifier: Apache-2.0
#include "lane_programs.h"

#include "../riscv/assembler.h"
#include "abi/gpu_isa.h"
#include "riscv/instruction.h"

namespace fabricvp::gpu {

using namespace assembler;
using riscv::opcode;
using riscv::operand_format;

namespace {

// x1 links, x2 is the stack pointer, x3 the lane's data, x4 and x8 count loops, x5 is its local memory, x9 counts calls
// of the recursive function, x6 and x7 hold addresses.
constexpr unsigned data_pointer = 3, local_pointer = 5, address = 6, target = 7;

bool computes(operand_format f) {
    switch (f) {
        case operand_format::upper:
        case operand_format::upper_pc:
        case operand_format::register_immediate:
        case operand_format::register_shift:
        case operand_format::register_register:
        case operand_format::register_only: return true;
        default: return f >= operand_format::f_ssss_rm && f <= operand_format::f_ds_rm;
    }
}

const std::vector<opcode>& computing() {
    static const auto all = [] {
        std::vector<opcode> v;
        for (unsigned i = 1; i < static_cast<unsigned>(opcode::count); ++i)
            if (computes(riscv::info(static_cast<opcode>(i)).format)) v.push_back(static_cast<opcode>(i));
        return v;
    }();
    return all;
}

bool has_rounding(operand_format f) {
    return f >= operand_format::f_ssss_rm && f <= operand_format::f_ds_rm && f != operand_format::f_sss &&
           f != operand_format::f_ddd && f != operand_format::f_xs && f != operand_format::f_xd &&
           f != operand_format::f_xss && f != operand_format::f_xdd && f != operand_format::f_sx &&
           f != operand_format::f_dx;
}

bool writes_f(operand_format f) {
    switch (f) {
        case operand_format::f_xs_rm:
        case operand_format::f_xd_rm:
        case operand_format::f_xs:
        case operand_format::f_xd:
        case operand_format::f_xss:
        case operand_format::f_xdd: return false;
        default: return f >= operand_format::f_ssss_rm && f <= operand_format::f_ds_rm;
    }
}

constexpr reg r(unsigned n) { return static_cast<reg>(n); }

}  // namespace

unsigned lane_program::any_x() { return pick(8) == 0 ? 0 : 10 + pick(22); }

void lane_program::compute() {
    const auto op = computing()[pick(static_cast<unsigned>(computing().size()))];
    const auto& row = riscv::info(op);
    const word rd = writes_f(row.format) ? pick(32) : any_x();
    const word rs1 = row.format >= operand_format::f_ssss_rm ? pick(32) : 3 + pick(29);
    word free = rd << 7 | rs1 << 15 | pick(32) << 20 | static_cast<word>(m_random()) << 25;
    static constexpr word modes[] = {0, 7, 0, 7, 1, 2, 3, 4};
    free |= (has_rounding(row.format) ? modes[pick(8)] : pick(8)) << 12;
    put(row.match | (free & ~row.mask));
}

void lane_program::memory() {
    static constexpr word loads[] = {0x0003, 0x1003, 0x2003, 0x3003, 0x4003, 0x5003, 0x6003, 0x2007, 0x3007};
    static constexpr unsigned load_bytes[] = {1, 2, 4, 8, 1, 2, 4, 4, 8};
    static constexpr word stores[] = {0x0023, 0x1023, 0x2023, 0x3023, 0x2027, 0x3027};
    static constexpr unsigned store_bytes[] = {1, 2, 4, 8, 4, 8};
    // Base register, and the stretch behind it that is the lane's own.
    unsigned base = data_pointer, from = play, size = play_size;
    if (pick(3) == 0)
        base = local_pointer, from = 0, size = local_stride;
    else if (pick(3) == 0)
        base = 2, from = static_cast<unsigned>(-256), size = 128;
    const auto offset = [&](unsigned bytes) { return static_cast<int>(from + pick(size / bytes) * bytes); };
    switch (pick(5)) {
        case 0:
        case 1: {
            const auto n = pick(9);
            put(i_type(loads[n], n >= 7 ? pick(32) : any_x(), base, offset(load_bytes[n])));
            break;
        }
        case 2:
        case 3: {
            const auto n = pick(6);
            put(s_type(stores[n], base, n >= 4 ? pick(32) : 3 + pick(29), offset(store_bytes[n])));
            break;
        }
        default: {
            const bool wide = pick(2);
            put(addi(r(address), r(base), offset(8)));
            if (pick(3) == 0) {
                put(r_type(wide ? 0x1000302f : 0x1000202f, any_x(), address, 0));
                put(r_type(wide ? 0x1800302f : 0x1800202f, any_x(), address, 3 + pick(29)));
            } else {
                static constexpr word kinds[] = {0, 1, 4, 8, 12, 16, 20, 24, 28};
                put(r_type(0x2f | (wide ? 3u : 2u) << 12 | kinds[pick(9)] << 27, any_x(), address, 3 + pick(29)));
            }
        }
    }
}

/// Lanes for which a random comparison holds skip a block.
void lane_program::condition(unsigned loops, bool calls) {
    static constexpr word comparisons[] = {0, 1, 4, 5, 6, 7};
    const word funct = comparisons[pick(6)] << 12;
    unsigned a = 3 + pick(29);
    const unsigned b = pick(3) == 0 ? 0 : 10 + pick(22);
    if (pick(2)) {
        put(i_type(0x7013, address, 10 + pick(22), 1 << pick(4)));
        a = address;
    }
    const auto at = here();
    put(0);
    block(1 + pick(4), loops, calls);
    const bool otherwise = pick(2);
    const auto jump = here();
    if (otherwise) put(0);
    m_words[at] = b_type(0x63 | funct, a, b, static_cast<int>(here() - at) * 4);
    if (!otherwise) return;
    block(1 + pick(4), loops, calls);
    m_words[jump] = j(static_cast<int>(here() - jump) * 4);
}

/// One to eight turns, or now and then more than a group may run before others get their turn.
void lane_program::loop(unsigned loops) {
    const unsigned counter = loops == 2 ? 4 : 8;
    put(i_type(0x7013, counter, 10 + pick(22), pick(12) == 0 && loops == 2 ? 127 : 7));
    put(addi(r(counter), r(counter), 1));
    const auto top = here();
    block(1 + pick(4), loops - 1, false);
    put(addi(r(counter), r(counter), -1));
    put(bne(r(counter), zero, static_cast<int>(top) * 4 - static_cast<int>(here()) * 4));
}

void lane_program::call() {
    const auto function = pick(function_count);
    if (function == function_count - 1) put(i_type(0x7013, 9, 10 + pick(22), 7));
    if (function < 2 && pick(2)) {
        // One of the first two functions, by the lowest bit of a register.
        put(i_type(0x7013, target, 10 + pick(22), 1));
        put(slli(r(target), r(target), 6));
        m_indirect.push_back({here(), 0});
        put(0);
        put(0);
        put(add(r(target), r(target), r(address)));
        put(jalr(ra, r(target), 0));
        return;
    }
    m_calls.push_back({here(), function});
    put(0);
}

void lane_program::statement(unsigned loops, bool calls) {
    switch (pick(12)) {
        case 0:
        case 1: return condition(loops, calls);
        case 2:
            if (loops) return loop(loops);
            return compute();
        case 3:
            if (calls) return call();
            return compute();
        case 4:
        case 5:
        case 6: return memory();
        case 7:
            if (pick(4) == 0) return put(pause);
            if (pick(4) == 0) return put(fence);
            return compute();
        default: return compute();
    }
}

void lane_program::block(unsigned statements, unsigned loops, bool calls) {
    ++m_depth;
    for (unsigned i = 0; i < statements; ++i) {
        if (m_depth < 5)
            statement(loops, calls);
        else
            compute();
    }
    --m_depth;
}

void lane_program::functions() {
    // Two of 16 words, then one that loops, then one that calls itself.
    while (here() % 16) put(nop);
    for (unsigned f = 0; f < 2; ++f) {
        m_function[f] = here();
        const auto end = here() + 15;
        while (here() < end) compute();
        put(ret());
    }
    m_function[2] = here();
    block(6, 1, false);
    put(ret());
    m_function[3] = here();
    put(addi(sp, sp, -16));
    put(sd(ra, sp, 8));
    block(3, 0, false);
    put(beq(r(9), zero, 12));
    put(addi(r(9), r(9), -1));
    put(jal(ra, static_cast<int>(m_function[3]) * 4 - static_cast<int>(here()) * 4));
    compute();
    put(ld(ra, sp, 8));
    put(addi(sp, sp, 16));
    put(ret());
}

lane_program::lane_program(unsigned seed) : m_random(seed) {
    put(csrr(t0, GPU_CSR_LOCAL_ID_X));
    put(slli(a1, t0, 11));
    put(ld(r(data_pointer), a0, 0));
    put(add(r(data_pointer), r(data_pointer), a1));
    put(slli(t0, t0, 6));
    put(lui(t1, 0x20000));
    put(add(r(local_pointer), t0, t1));
    m_start = here();
    for (unsigned n = 4; n < 32; ++n)
        if (n != local_pointer) put(ld(r(n), r(data_pointer), static_cast<int>(n * 8)));
    for (unsigned n = 0; n < 32; ++n) put(fld(n, r(data_pointer), static_cast<int>(256 + n * 8)));
    block(30, 2, true);
    for (unsigned n = 1; n < 32; ++n) put(sd(r(n), r(data_pointer), static_cast<int>(dump + n * 8)));
    for (unsigned n = 0; n < 32; ++n) put(s_type(0x3027, data_pointer, n, static_cast<int>(dump + 256 + n * 8)));
    const auto finish = here();
    put(0);
    functions();
    for (const auto& c : m_calls)
        m_words[c.at] = jal(ra, static_cast<int>(m_function[c.function]) * 4 - static_cast<int>(c.at) * 4);
    for (const auto& c : m_indirect) {
        const int distance = static_cast<int>(m_function[0] - c.at) * 4, upper = (distance + 0x800) >> 12;
        m_words[c.at] = auipc(r(address), static_cast<word>(upper));
        m_words[c.at + 1] = addi(r(address), r(address), distance - upper * 4096);
    }
    m_words[finish] = j(static_cast<int>(here() - finish) * 4);
    put(end_word);
}

}  // namespace fabricvp::gpu
