// SPDX-License-Identifier: Apache-2.0
#include "gpu/debugging/wavefront_memory.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "gpu/memory/line_bytes.h"

namespace fabricvp::gpu {

namespace {

bool inside(std::uint64_t address, std::uint64_t base, std::uint64_t size) { return address - base < size; }

}  // namespace

bool wavefront_memory::access(std::uint32_t space, std::uint64_t address, void* data, std::size_t size, bool write) {
    translation t;
    if (!m_memory.debug_translate(space, address, t) || t.fault != memory_fault::none) return false;
    const auto physical = t.at(address);
    if (m_memory.router.is_local(physical)) return m_memory.debug_access(physical, data, size, write);
    return m_elsewhere && m_elsewhere(physical, data, size, write);
}

std::size_t wavefront_memory::copy(const wavefront_place& p, unsigned lane, std::uint64_t address, std::uint8_t* data,
                                   std::size_t size, bool write) {
    auto& l1 = m_memory.units[p.compute_unit]->l1;
    std::size_t done = 0;
    while (done < size) {
        const auto at = address + done;
        if (inside(at, GPU_LDS_BASE, GPU_LDS_SIZE)) {
            const auto offset = at - GPU_LDS_BASE;
            if (!p.lds || offset >= p.lds->size()) break;
            auto* const bytes = const_cast<std::uint8_t*>(p.lds->data()) + offset;
            const auto part = std::min<std::size_t>(size - done, p.lds->size() - offset);
            write ? std::memcpy(bytes, data + done, part) : std::memcpy(data + done, bytes, part);
            done += part;
            continue;
        }
        std::uint64_t global = at;
        std::uint64_t part = std::min<std::uint64_t>(size - done, line_bytes - at % line_bytes);
        if (inside(at, GPU_CODE_BASE, GPU_CODE_SIZE) || inside(at, GPU_KERNARG_BASE, GPU_KERNARG_SIZE)) {
            if (write) break;
            global = at < GPU_LDS_BASE ? at - GPU_CODE_BASE + p.image : at - GPU_KERNARG_BASE + p.kernarg;
            part = std::min<std::uint64_t>(part, line_bytes - global % line_bytes);
        } else if (inside(at, GPU_SCRATCH_BASE, p.scratch_bytes)) {
            const auto offset = at - GPU_SCRATCH_BASE;
            global = p.scratch + ((offset / 8) * p.lanes + lane) * 8 + offset % 8;
            part = std::min<std::uint64_t>(part, 8 - offset % 8);
        } else if (at < GPU_GLOBAL_BASE) {
            break;
        }
        translation t;
        if (!m_memory.debug_translate(p.address_space, global, t) || t.fault != memory_fault::none) break;
        const auto physical = t.at(global);
        const bool cached = t.type == GPU_PTE_TYPE_CACHED;
        if (write || !cached || !l1.peek(physical, data + done, static_cast<unsigned>(part)))
            if (!access(p.address_space, global, data + done, part, write)) break;
        if (write && cached) {
            std::array<std::uint8_t, line_bytes> line{};
            const auto first = static_cast<unsigned>(physical % line_bytes);
            std::memcpy(line.data() + first, data + done, part);
            l1.store(physical - first, line.data(), bytes_of(first, static_cast<unsigned>(part)));
        }
        done += part;
    }
    return done;
}

std::size_t wavefront_memory::read(const wavefront_place& p, unsigned lane, std::uint64_t address, void* to,
                                   std::size_t size) {
    return copy(p, lane, address, static_cast<std::uint8_t*>(to), size, false);
}

std::size_t wavefront_memory::write(const wavefront_place& p, unsigned lane, std::uint64_t address, const void* from,
                                    std::size_t size) {
    return copy(p, lane, address, const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(from)), size, true);
}

}  // namespace fabricvp::gpu
