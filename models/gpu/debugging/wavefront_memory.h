// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/control/kernel_name.h"
#include "gpu/memory/gpu_memory_system.h"

namespace fabricvp::gpu {

/// What the fixed apertures of a wavefront stand for.
struct wavefront_place {
    unsigned compute_unit = 0;
    std::uint32_t address_space = 0;
    std::uint64_t image = 0, kernarg = 0, scratch = 0;  ///< global virtual addresses
    std::uint64_t scratch_bytes = 0;                    ///< of a lane
    const std::vector<std::uint8_t>* lds = nullptr;
    unsigned lanes = 64;  ///< of the wavefront
};

/// Memory as a lane sees it, without time or side effects: apertures, page tables, and what its L1 cache holds, old or
/// not.
class wavefront_memory {
public:
    /// Reads or writes bytes at a physical address that is not this GPU's. \returns false if nothing is there
    using elsewhere = std::function<bool(std::uint64_t physical, void* data, std::size_t size, bool write)>;

    wavefront_memory(gpu_memory_system& memory, elsewhere others) : m_memory(memory), m_elsewhere(std::move(others)) {}

    /// \returns bytes done, from the start
    std::size_t read(const wavefront_place& p, unsigned lane, std::uint64_t address, void* to, std::size_t size);
    /// Memory and the lane's L1 cache are changed; code and kernel arguments cannot be.
    std::size_t write(const wavefront_place& p, unsigned lane, std::uint64_t address, const void* from,
                      std::size_t size);
    std::string name_of(const dispatch& what) const { return kernel_name(m_memory, what); }
    /// Bytes at a virtual address of an address space, as memory has them.
    bool access(std::uint32_t space, std::uint64_t address, void* data, std::size_t size, bool write);

private:
    std::size_t copy(const wavefront_place& p, unsigned lane, std::uint64_t address, std::uint8_t* data,
                     std::size_t size, bool write);

    gpu_memory_system& m_memory;
    elsewhere m_elsewhere;
};

}  // namespace fabricvp::gpu
