// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/kernel_name.h"

#include <cstring>

#include "abi/kernel_descriptor.h"

namespace fabricvp::gpu {

std::string kernel_name(const gpu_memory_system& memory, const dispatch& what) {
    constexpr unsigned max_kernels = 64;
    for (unsigned i = 0; i < max_kernels; ++i) {
        kernel_descriptor d;
        const auto address = what.image + i * sizeof d;
        translation t;
        if (!memory.debug_translate(what.address_space, address, t) || t.fault != memory_fault::none) break;
        const auto physical = t.at(address);
        if (auto* shared = memory.router.shared();
            shared && shared->holds(physical) && shared->holds(physical + sizeof d - 1))
            shared->load(offset_of(physical), &d, sizeof d);
        else if (memory.router.is_local(physical) && memory.memory.bytes.contains(offset_of(physical), sizeof d))
            memory.memory.bytes.read(offset_of(physical), &d, sizeof d);
        else
            break;
        if (d.magic != KERNEL_DESCRIPTOR_MAGIC) break;
        if (d.entry != what.entry) continue;
        std::string name(d.name, strnlen(d.name, sizeof d.name));
        for (auto& c : name)
            if (c < ' ' || c > '~') c = '?';
        return name;
    }
    return "kernel";
}

}  // namespace fabricvp::gpu
