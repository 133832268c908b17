// SPDX-License-Identifier: Apache-2.0
#include "riscv/hart_state.h"

namespace fabricvp::riscv {

int hart_state::interrupt_to_take() const {
    const auto pending = mip() & mie;
    if (pending == 0) return -1;
    const bool machine_on = mode != privilege::machine || (mstatus & status::mie);
    const bool supervisor_on = mode == privilege::user || (mode == privilege::supervisor && (mstatus & status::sie));
    auto candidates = machine_on ? pending & ~mideleg : 0;
    if (candidates == 0) candidates = supervisor_on ? pending & mideleg : 0;
    for (const int code : {11, 3, 7, 9, 1, 5})
        if (candidates >> code & 1) return code;
    return -1;
}

void hart_state::reset(const hart_params& params, std::uint64_t reset_pc) {
    const auto lines = mip_lines;  // wires keep their level
    *this = hart_state{};
    mip_lines = lines;
    pc = reset_pc;
    if (params.supervisor)
        mstatus = status::lengths_64;
    else
        mstatus = status::mpp;  // with M-mode alone, MPP is always 3
}

}  // namespace fabricvp::riscv
