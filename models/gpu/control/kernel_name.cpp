// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/kernel_name.h"

#include <cstring>

#include "abi/kernel_descriptor.h"

namespace fabricvp::gpu {

namespace {

bool read_descriptor(const gpu_memory_system& memory, std::uint32_t space, std::uint64_t address,
                     kernel_descriptor& d) {
    if (!memory.debug_read(space, address, &d, sizeof d)) return false;
    return d.magic == KERNEL_DESCRIPTOR_MAGIC;
}

std::string name_in(const kernel_descriptor& d) {
    std::string name(d.name, strnlen(d.name, sizeof d.name));
    for (auto& c : name)
        if (c < ' ' || c > '~') c = '?';
    return name;
}

}  // namespace

std::string kernel_name(const gpu_memory_system& memory, const dispatch& what) {
    constexpr unsigned max_kernels = 64;
    kernel_descriptor d;
    for (unsigned i = 0; i < max_kernels; ++i) {
        if (!read_descriptor(memory, what.address_space, what.image + i * sizeof d, d)) break;
        if (d.entry == what.entry) return name_in(d);
    }
    return "kernel";
}

std::string kernel_name(const gpu_memory_system& memory, std::uint32_t space, std::uint64_t object) {
    kernel_descriptor d;
    return read_descriptor(memory, space, object, d) ? name_in(d) : "kernel";
}

}  // namespace fabricvp::gpu
