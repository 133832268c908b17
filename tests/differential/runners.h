// SPDX-License-Identifier: Apache-2.0
// The two machines. Each runs what lies in the memory until the guest powers off, in a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "guest_memory.h"
#include "platform/results/outcome.h"

namespace differential {

struct run_outcome {
    std::string failure;             ///< empty if the guest powered off
    std::uint64_t instructions = 0;  ///< executed, where known
};

bool qemu_present();
run_outcome run_on_qemu(guest_memory& memory);
/// \param translate_after simulation.translate_after
run_outcome run_on_fabricvp(guest_memory& memory, unsigned translate_after);

}  // namespace differential
