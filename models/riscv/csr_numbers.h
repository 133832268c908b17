// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fabricvp::riscv::csr {

// clang-format off
/// CSR addresses (privileged specification 1.12, table 2.2 and following; AIA; Sstc).
enum number : unsigned {
    fflags = 0x001, frm = 0x002, fcsr = 0x003,
    sstatus = 0x100, sie = 0x104, stvec = 0x105, scounteren = 0x106, senvcfg = 0x10a, sscratch = 0x140, sepc = 0x141,
    scause = 0x142, stval = 0x143, sip = 0x144, stimecmp = 0x14d, siselect = 0x150, sireg = 0x151, stopei = 0x15c,
    satp = 0x180,
    mstatus = 0x300, misa = 0x301, medeleg = 0x302, mideleg = 0x303, mie = 0x304, mtvec = 0x305, mcounteren = 0x306,
    mvien = 0x308, mvip = 0x309, menvcfg = 0x30a, mcountinhibit = 0x320, mhpmevent3 = 0x323, mhpmevent31 = 0x33f,
    mscratch = 0x340, mepc = 0x341,
    mcause = 0x342, mtval = 0x343, mip = 0x344, miselect = 0x350, mireg = 0x351, mtopei = 0x35c,
    pmpcfg0 = 0x3a0, pmpcfg2 = 0x3a2, pmpcfg14 = 0x3ae, pmpaddr0 = 0x3b0, pmpaddr63 = 0x3ef,
    tselect = 0x7a0, tdata1 = 0x7a1, tdata2 = 0x7a2, tdata3 = 0x7a3,
    mcycle = 0xb00, minstret = 0xb02, mhpmcounter3 = 0xb03, mhpmcounter31 = 0xb1f,
    cycle = 0xc00, time = 0xc01, instret = 0xc02, hpmcounter3 = 0xc03, hpmcounter31 = 0xc1f,
    stopi = 0xdb0, mvendorid = 0xf11, marchid = 0xf12, mimpid = 0xf13, mhartid = 0xf14,
    mconfigptr = 0xf15, mtopi = 0xfb0
};
// clang-format on

}  // namespace fabricvp::riscv::csr
