// SPDX-License-Identifier: Apache-2.0
#include "riscv/hart_state.h"

#include <algorithm>

namespace fabricvp::riscv {

namespace {
constexpr std::array<int, 6> default_order{11, 3, 7, 9, 1, 5};
}

hart_state::major_interrupt hart_state::highest_priority(privilege level) const {
    const bool machine = level == privilege::machine;
    const auto among = mip() & mie & (machine ? ~mideleg : mideleg);
    const auto& numbers = machine ? machine_priority : supervisor_priority;
    const int external = machine ? 11 : 9;
    constexpr unsigned lowest = 0x800;  // below all identities of an IMSIC
    major_interrupt best;
    unsigned best_rank = lowest + 1;
    for (const int code : default_order) {
        if (!(among >> code & 1)) continue;
        const auto number = code == external ? static_cast<unsigned>(aia ? aia->top_external(level) & 0x7ff : 0)
                                             : numbers[static_cast<unsigned>(code)];
        const auto rank = number ? number : lowest;
        if (rank >= best_rank) continue;  // equal numbers: the default order decides
        best = {code, std::min(rank, 255u)};
        best_rank = rank;
    }
    return best;
}

void hart_state::priorities_changed() {
    const auto set = [](std::uint8_t number) { return number != 0; };
    priorities = std::any_of(machine_priority.begin(), machine_priority.end(), set) ||
                 std::any_of(supervisor_priority.begin(), supervisor_priority.end(), set);
}

int hart_state::interrupt_to_take() const {
    const auto pending = mip() & mie;
    if (pending == 0) return -1;
    const bool machine_on = mode != privilege::machine || (mstatus & status::mie);
    const bool supervisor_on = mode == privilege::user || (mode == privilege::supervisor && (mstatus & status::sie));
    auto candidates = machine_on ? pending & ~mideleg : 0;
    if (candidates == 0) candidates = supervisor_on ? pending & mideleg : 0;
    if (candidates != 0 && priorities)
        return highest_priority(candidates & ~mideleg ? privilege::machine : privilege::supervisor).code;
    for (const int code : default_order)
        if (candidates >> code & 1) return code;
    return -1;
}

void hart_state::reset(const hart_params& params, std::uint64_t reset_pc) {
    const auto lines = mip_lines;  // wires keep their level
    auto* const files = aia;
    *this = hart_state{};
    mip_lines = lines;
    aia = files;
    pc = reset_pc;
    if (params.supervisor)
        mstatus = status::lengths_64;
    else
        mstatus = status::mpp;  // with M-mode alone, MPP is always 3
}

}  // namespace fabricvp::riscv
