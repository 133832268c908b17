// SPDX-License-Identifier: Apache-2.0
// User-mode queues of a GPU in words, for debuggers.
#pragma once

#include <string>

#include "gpu/debugging/wavefront_memory.h"
#include "gpu/gpu_core.h"

namespace fabricvp::gpu {

/// One line: state, indices, packets outstanding, doorbell. Empty if the host has not opened the queue.
/// \param queue below GPU_QUEUES \param memory as the queue's address space has it
std::string summary_of_queue(const gpu_core& core, wavefront_memory& memory, unsigned queue);
/// The same, then what it waits for and the packets that are outstanding, a line each.
std::string text_of_queue(const gpu_core& core, wavefront_memory& memory, unsigned queue);

}  // namespace fabricvp::gpu
