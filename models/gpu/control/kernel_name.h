// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "gpu/lanes/dispatch.h"
#include "gpu/memory/gpu_memory_system.h"

namespace fabricvp::gpu {

/// What the table of descriptors in front of a dispatch's image (abi/kernel_descriptor.h) calls its entry, read without
/// time; "kernel" if the table does not say, or lies in memory that is no GPU's.
std::string kernel_name(const gpu_memory_system& memory, const dispatch& what);
/// The same of the descriptor at a virtual address: the kernel object of an AQL packet.
std::string kernel_name(const gpu_memory_system& memory, std::uint32_t space, std::uint64_t object);

}  // namespace fabricvp::gpu
