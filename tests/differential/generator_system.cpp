// SPDX-License-Identifier: Apache-2.0
// System instructions, traps, code that changes. Where QEMU 7.2 is known to differ from the specification, the
// generator keeps away: set and clear of read-only CSRs with a register that holds zero, odd values of mepc and sepc,
// the reserved value 2 of MPP, the hypervisor's bits of mie, AMOs to addresses without memory, MPRV across mret.
#include "generator.h"
#include "instructions.h"

namespace differential {

using namespace insn;

namespace {
enum : unsigned {
    fflags = 0x001,
    frm = 0x002,
    fcsr = 0x003,
    sstatus = 0x100,
    sie = 0x104,
    stvec = 0x105,
    scounteren = 0x106,
    sepc = 0x141,
    scause = 0x142,
    stval = 0x143,
    satp = 0x180,
    mstatus = 0x300,
    misa = 0x301,
    medeleg = 0x302,
    mie = 0x304,
    mcounteren = 0x306,
    mepc = 0x341,
    mcause = 0x342,
    mtval = 0x343,
    pmpaddr8 = 0x3b8,
    cycle = 0xc00,
    time_csr = 0xc01,
    instret = 0xc02,
    mhartid = 0xf14
};
constexpr unsigned unassigned[] = {0x5c0, 0x8ff, 0xcc0, 0x1ff, 0xbff, 0xdff};

/// Bits of mstatus that the sequences may change, and of sstatus.
constexpr word status_bits =
    1u << 1 | 1u << 3 | 1u << 5 | 1u << 7 | 1u << 8 | 3u << 13 | 1u << 18 | 1u << 19 | 7u << 20;
constexpr word supervisor_status_bits = 1u << 1 | 1u << 5 | 1u << 8 | 3u << 13 | 1u << 18 | 1u << 19;

std::vector<word> load_constant(unsigned reg, word value) {
    const auto low = static_cast<int>(value << 20) >> 20;
    return {lui(reg, (value - static_cast<word>(low)) >> 12), addiw(reg, reg, low)};
}
}  // namespace

void generator::csr() {
    static const std::vector<unsigned> by_machine{fflags,     frm,  fcsr,    sie,     scounteren, sepc,     scause,
                                                  stval,      satp, mstatus, sstatus, misa,       medeleg,  mie,
                                                  mcounteren, mepc, mcause,  mtval,   mhartid,    pmpaddr8, 0};
    static const std::vector<unsigned> by_supervisor{fflags,  frm,      fcsr,  sie,      scounteren, sepc,
                                                     scause,  stval,    satp,  sstatus,  mstatus,    mepc,
                                                     mhartid, pmpaddr8, cycle, time_csr, instret,    0};
    static const std::vector<unsigned> by_user{fflags, frm,     fcsr,    fcsr,  frm,      sstatus, sepc, satp,
                                               stvec,  mstatus, mhartid, cycle, time_csr, instret, 0};
    auto number = chance(35) ? fflags + below(3)
                             : any(m_env.level == mode::machine      ? by_machine
                                   : m_env.level == mode::supervisor ? by_supervisor
                                                                     : by_user);
    if (number == 0) number = unassigned[below(6)];
    const auto rd = destination(), t = scratch();
    static constexpr unsigned variants[] = {1, 2, 3, 5, 6, 7};
    const auto f3 = variants[below(6)];
    const auto operand = below(32);
    if ((number == frm || number == fcsr) && chance(80))
        return put({insn::csr(5, rd, frm, below(5))}, rd);  // a legal mode
    switch (number) {
        case satp:
        case mstatus:
        case sstatus:
        case medeleg: return put({csrrs(rd, number, 0)}, rd);
        case misa:
        case mhartid:
        case cycle:
        case time_csr:
        case instret:
            if (f3 == 2 || f3 == 3) return put({csrrs(rd, number, 0)}, rd);
            return number == misa ? put({csrrs(rd, number, 0)}, rd) : put({insn::csr(f3, rd, number, operand)}, rd);
        case mepc:
        case sepc: return put({andi(t, operand, -2), insn::csr(1 + below(3), rd, number, t)}, rd);
        case mie:
        case sie: return put({andi(t, operand, 0x2aa), insn::csr(1 + below(3), rd, number, t)}, rd);
        case scounteren:
        case mcounteren: return put({insn::csr(5, rd, number, below(8))}, rd);
        case pmpaddr8:
            return put({0x13u | 5 << 12 | t << 7 | operand << 15 | 16u << 20, insn::csr(1, rd, number + below(7), t)},
                       rd);
        default: return put({insn::csr(f3, rd, number, operand)}, rd);
    }
}

void generator::change_status() {
    const auto t = scratch(), rd = destination();
    auto value = static_cast<word>(m_random());
    const bool machine = m_env.level == mode::machine;
    const auto number = machine ? mstatus : sstatus;
    value &= machine ? status_bits : supervisor_status_bits;
    const auto keep_float = 3u << 13;
    auto words = load_constant(t, value | keep_float);
    switch (below(3)) {
        case 0: words.push_back(csrrs(rd, number, t)); break;
        case 1:
            words = load_constant(t, chance(5) ? value | keep_float : value & ~keep_float);
            words.push_back(csrrc(rd, number, t));
            break;
        default: {
            static constexpr word previous[] = {0, 1, 3};
            if (machine) value |= previous[below(3)] << 11;
            words = load_constant(t, chance(5) ? value & ~keep_float : value | keep_float);
            words.push_back(csrrw(rd, number, t));
        }
    }
    put(words, rd);
}

void generator::return_from_trap() {
    const auto t = scratch();
    if (m_env.level == mode::user) return put({chance(50) ? mret : sret});
    if (m_env.level == mode::machine && chance(60)) return put({auipc(t, 0), addi(t, t, 16), csrrw(0, mepc, t), mret});
    // Under translation the code belongs to one mode, and sret must stay there.
    put({addi(t, 0, 0x100), m_env.translated ? csrrs(0, sstatus, t) : addi(0, 0, 0), auipc(t, 0), addi(t, t, 16),
         csrrw(0, sepc, t), sret});
}

void generator::trap() {
    static const std::vector<word> causes{ecall, ebreak, 0xc0001073, 0xffffffff, 0x0000007f};
    if (chance(30)) {
        unit u;
        u.code = {static_cast<std::uint16_t>(chance(50) ? 0x9002 : 0)};  // c.ebreak, the illegal zero
        m_out.units.push_back(std::move(u));
        return;
    }
    put({any(causes)});
}

void generator::wild_access() {
    const auto t = scratch(), rd = destination();
    word_list words;
    if (m_env.translated) {
        if (chance(40))
            words = {lui(t, 0x50000 + below(0x1000))};
        else
            words = {addi(t, 0, chance(50) ? 1 : -1), slli(t, t, 38 + below(26))};
    } else {
        if (chance(50))
            words = {lui(t, 0x50)};
        else
            words = {addi(t, 0, 1), slli(t, t, 45 + below(8))};
    }
    const int offset = 8 * static_cast<int>(below(200));
    const auto width = below(4);
    switch (below(4)) {
        case 0: words.push_back(i(0x03, width, rd, t, offset)); break;
        case 1: words.push_back(s(width, source(), t, offset)); break;
        case 2: words.push_back(i(0x07, 2 + width % 2, below(32), t, offset)); return put(words);
        default: words.push_back(s(2 + width % 2, below(32), t, offset, 0x27)); return put(words);
    }
    put(words, rd);
}

void generator::fetch_elsewhere() {
    const auto t = scratch();
    if (m_env.translated)
        return put({lui(t, 0x40000 + m_env.code_page), jalr(1, t, 2 * static_cast<int>(below(1000)))});
    put({lui(t, 0x50), jalr(1, t, 4 * static_cast<int>(below(100)))});
}

/// Changes the immediate of an instruction that comes next but one; in a loop it has run before as it was.
void generator::rewrite_code() {
    const auto t = scratch();
    auto v = scratch(), m = scratch();
    while (v == t) v = scratch();
    while (m == t || m == v) m = scratch();
    auto rd = destination();
    while (rd == 2 || rd == 8 || rd == 9) rd = destination();
    const auto exclusive_or = 0x33u | 4 << 12 | v << 7 | v << 15 | m << 20;
    put({auipc(t, 0), i(0x03, 2, v, t, 24), lui(m, (1 + below(0xfff)) << 8), exclusive_or, s(2, v, t, 24), fence_i,
         addi(rd, source(), static_cast<int>(below(2048)))});
}

/// Random bits behind opcodes that cannot touch memory or jump.
void generator::opcode_noise() {
    static const std::vector<word> opcodes{0x33, 0x3b, 0x13, 0x1b, 0x53, 0x43, 0x47, 0x4b, 0x4f, 0x0b,
                                           0x2b, 0x5b, 0x7b, 0x57, 0x6b, 0x77, 0x0f, 0x1f, 0x3f};
    const auto rd = destination();
    auto w = (static_cast<word>(m_random()) & ~0xfffu) | any(opcodes) | rd << 7;
    constexpr word ctzw = 0x6010101b;  // see encodings.cpp
    if ((w & 0xfff0707f) == ctzw) w ^= 1u << 20;
    put({w}, rd);
}

}  // namespace differential
