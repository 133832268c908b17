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

/// The name that does not fit a descriptor.
std::string long_name(const gpu_memory_system& memory, std::uint32_t space, std::uint64_t image,
                      const kernel_descriptor& d) {
    constexpr std::size_t max_name = 4096, chunk = 16;
    std::uint64_t offset = 0;
    std::memcpy(&offset, d.name + KERNEL_DESCRIPTOR_LONG_NAME, sizeof offset);
    std::string name;
    while (offset && name.size() < max_name) {
        const auto at = image + offset + name.size();
        const auto size = chunk - at % chunk;  // inside of a page
        char part[chunk];
        if (!memory.debug_read(space, at, part, size)) break;
        const auto length = strnlen(part, size);
        name.append(part, length);
        if (length < size) break;
    }
    return name;
}

std::string name_in(const gpu_memory_system& memory, std::uint32_t space, std::uint64_t image,
                    const kernel_descriptor& d) {
    std::string name =
        d.name[0] ? std::string(d.name, strnlen(d.name, sizeof d.name)) : long_name(memory, space, image, d);
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
        if (d.entry == what.entry) return name_in(memory, what.address_space, what.image, d);
    }
    return "kernel";
}

std::string kernel_name(const gpu_memory_system& memory, std::uint32_t space, std::uint64_t object) {
    kernel_descriptor d;
    if (!read_descriptor(memory, space, object, d)) return "kernel";
    return name_in(memory, space, object - d.image_offset, d);
}

}  // namespace fabricvp::gpu
