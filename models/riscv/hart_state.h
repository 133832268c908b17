// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "riscv/hart.h"

namespace fabricvp::riscv {

/// Bits of mstatus (sstatus shows a subset).
namespace status {
inline constexpr std::uint64_t sie = 1u << 1, mie = 1u << 3, spie = 1u << 5, mpie = 1u << 7, spp = 1u << 8,
                               mpp = 3u << 11, fs = 3u << 13, mprv = 1u << 17, sum = 1u << 18, mxr = 1u << 19,
                               tvm = 1u << 20, tw = 1u << 21, tsr = 1u << 22, uxl = std::uint64_t{3} << 32,
                               sxl = std::uint64_t{3} << 34, sd = std::uint64_t{1} << 63;
inline constexpr std::uint64_t lengths_64 = std::uint64_t{2} << 32 | std::uint64_t{2} << 34;
inline constexpr unsigned mpp_shift = 11;
}  // namespace status

/// Bits of mip and mie.
namespace interrupt_bit {
inline constexpr std::uint64_t ssi = 1u << 1, msi = 1u << 3, sti = 1u << 5, mti = 1u << 7, sei = 1u << 9,
                               mei = 1u << 11;
inline constexpr std::uint64_t supervisor = ssi | sti | sei, machine = msi | mti | mei, all = supervisor | machine;
}  // namespace interrupt_bit

/// Exception codes of mcause.
enum class cause : unsigned {
    instruction_misaligned = 0,
    instruction_access = 1,
    illegal_instruction = 2,
    breakpoint = 3,
    load_misaligned = 4,
    load_access = 5,
    store_misaligned = 6,
    store_access = 7,
    ecall_user = 8,
    ecall_supervisor = 9,
    ecall_machine = 11,
    instruction_page = 12,
    load_page = 13,
    store_page = 15
};

/// What an access wants of translation and protection; page and access faults are told apart by it.
enum class access_type : std::uint8_t { read, write, execute };

/// The architectural state of a hart: what a debugger could save and restore.
struct hart_state {
    static constexpr unsigned sink = 32;  ///< writes to x0 go to this extra register, so that no reader tests for zero

    std::array<std::uint64_t, 33> x{};
    std::array<std::uint64_t, 32> f{};
    std::uint64_t pc = 0;
    privilege mode = privilege::machine;

    std::uint64_t mstatus = 0, medeleg = 0, mideleg = 0, mie = 0, mtvec = 0, mcounteren = 0, menvcfg = 0,
                  mcountinhibit = 0, mscratch = 0, mepc = 0, mcause = 0, mtval = 0;
    std::uint64_t stvec = 0, scounteren = 0, senvcfg = 0, sscratch = 0, sepc = 0, scause = 0, stval = 0, satp = 0,
                  stimecmp = ~std::uint64_t{0};
    std::uint64_t miselect = 0, siselect = 0;
    aia_interface* aia = nullptr;                                            ///< null: neither Smaia nor Ssaia
    std::array<std::uint8_t, 16> machine_priority{}, supervisor_priority{};  ///< iprio bytes, by interrupt code
    bool priorities = false;                                                 ///< any of them is not zero
    std::uint64_t mip_software = 0;                                          ///< SSIP, STIP, SEIP as written
    std::uint64_t mip_lines = 0;  ///< MSIP, MTIP, MEIP, SEIP as driven from outside
    bool timer_reached = false;   ///< time >= stimecmp
    std::uint32_t fflags = 0;
    std::uint32_t frm = 0;
    std::array<std::uint8_t, 16> pmpcfg{};
    std::array<std::uint64_t, 16> pmpaddr{};

    bool stimecmp_enabled() const { return menvcfg >> 63; }

    std::uint64_t mip() const {
        auto bits = mip_software | mip_lines;
        if (stimecmp_enabled()) bits = (bits & ~interrupt_bit::sti) | (timer_reached ? interrupt_bit::sti : 0);
        return bits;
    }
    std::uint64_t readable_mstatus() const { return mstatus | ((mstatus & status::fs) == status::fs ? status::sd : 0); }
    bool float_enabled() const { return mstatus & status::fs; }

    /// Privilege with which loads and stores are checked.
    privilege data_mode() const {
        return mstatus & status::mprv ? static_cast<privilege>(mstatus >> status::mpp_shift & 3) : mode;
    }

    struct major_interrupt {
        int code = -1;
        unsigned priority = 0;  ///< as IPRIO of mtopi and stopi has it: 0 or 1 (highest) … 255
    };
    /// What is pending and enabled at a level and comes first there (AIA 5.2.2, 5.4.1); code -1: nothing.
    major_interrupt highest_priority(privilege level) const;
    void priorities_changed();

    /// Code of the interrupt that is to be taken now, or -1.
    int interrupt_to_take() const;
    void reset(const hart_params& params, std::uint64_t reset_pc);
};

}  // namespace fabricvp::riscv
