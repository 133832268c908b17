// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/gdb/gdb_hooks.h"
#include "riscv/hart_debug.h"

namespace fabricvp::gdb {

/// GDB's RISC-V register numbers.
namespace register_number {
inline constexpr unsigned sp = 2;
inline constexpr unsigned pc = 32;
inline constexpr unsigned first_float = 33;
inline constexpr unsigned first_csr = 65;
inline constexpr unsigned csr_count = 4096;
inline constexpr unsigned privilege = first_csr + csr_count;
inline constexpr unsigned first_further = privilege + 1;  ///< of wavefronts
inline constexpr unsigned last_further = first_further + 63;
}  // namespace register_number

/// Bytes that a register takes in packets: 8, and 4 for fflags, frm and fcsr.
unsigned register_size(unsigned number);

/// `target.xml`: features org.gnu.gdb.riscv.cpu, .fpu (where there is one), .csr (the CSRs that exist) and .virtual of
/// a target, and the further registers that some of all `threads` have.
std::string describe_target(riscv::debug_target& target, const std::vector<riscv::debug_target*>& threads);

/// `memory-map`: RAM and ROM. GDB takes the rest for inaccessible, so a target with address translation gets the kernel
/// half of its address space as RAM, and no map at all when translation is on already.
std::string describe_memory(riscv::debug_target& target, const std::vector<gdb_region>& regions);

}  // namespace fabricvp::gdb
