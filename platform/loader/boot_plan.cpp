// SPDX-License-Identifier: Apache-2.0
#include "platform/loader/boot_plan.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/loader/image_set.h"

namespace fabricvp {
namespace {

/// Header of Linux's RISC-V `Image` (Documentation/arch/riscv/boot-image-header.rst).
struct linux_header {
    static constexpr std::size_t size = 64;
    static bool recognised(std::string_view image) {
        return image.size() >= size && std::memcmp(image.data() + 0x38, "RSC\x05", 4) == 0;
    }
    /// Bytes that the kernel uses behind its load address, the zeros behind the file included.
    static std::uint64_t image_size(std::string_view image) {
        std::uint64_t value;
        std::memcpy(&value, image.data() + 0x10, sizeof value);
        return value;
    }
};

}  // namespace

std::string_view boot_plan::retain(std::string bytes) {
    m_contents.push_back(std::move(bytes));
    return m_contents.back();
}

void boot_plan::check(const load_region& p) const {
    if (p.size == 0) throw input_error(p.what + ": the file is empty");
    const auto offset = p.address - m_memory.base;
    if (p.address < m_memory.base || offset >= m_memory.size || p.size > m_memory.size - offset)
        throw input_error(fmt::format("{}: {:#x} … {:#x} lies outside of the memory of {} ({:#x} … {:#x})", p.what,
                                      p.address, p.address + (p.size - 1), m_memory.node, m_memory.base,
                                      m_memory.end() - 1));
    for (const auto* placed : {&m_load_regions, &m_reserved})
        for (const auto& other : *placed)
            if (p.address < other.address + other.size && other.address < p.address + p.size)
                throw input_error(fmt::format("{} ({:#x} … {:#x}) overlaps {} ({:#x} … {:#x})", p.what, p.address,
                                              p.address + p.size - 1, other.what, other.address,
                                              other.address + other.size - 1));
}

void boot_plan::place(load_region p) {
    check(p);
    m_load_regions.push_back(std::move(p));
}

void boot_plan::reserve(const std::string& what, std::uint64_t address, std::uint64_t size) {
    load_region wanted{what, address, size, {}};
    check(wanted);
    m_reserved.push_back(std::move(wanted));
}

std::uint64_t boot_plan::place_elf(std::string_view contents, const std::string& path, const char* role) {
    m_elfs.emplace_back(contents, path);
    for (const auto& s : m_elfs.back().segments())
        place({fmt::format("{} {}", role, path), s.physical, s.memory_size, s.bytes});
    return m_elfs.back().entry();
}

void boot_plan::place_raw(std::string_view contents, const std::string& path, const char* role, std::uint64_t address) {
    auto size = static_cast<std::uint64_t>(contents.size());
    if (linux_header::recognised(contents)) size = std::max(size, linux_header::image_size(contents));
    place({fmt::format("{} {}", role, path), address, size, contents});
}

std::uint64_t boot_plan::add_elf(const std::string& path, const char* role) {
    return add_elf(read_file(path, max_image_bytes), path, role);
}

std::uint64_t boot_plan::add_elf(std::string contents, const std::string& name, const char* role) {
    return place_elf(retain(std::move(contents)), name, role);
}

void boot_plan::add_raw(const std::string& path, const char* role, std::uint64_t address) {
    place_raw(retain(read_file(path, max_image_bytes)), path, role, address);
}

std::uint64_t boot_plan::add_stage(const std::string& path, const char* role, std::uint64_t raw_address) {
    const auto contents = retain(read_file(path, max_image_bytes));
    if (elf_image::recognised(contents)) return place_elf(contents, path, role);
    place_raw(contents, path, role, raw_address);
    return raw_address;
}

void boot_plan::add_stages(const image_set& images) {
    if (!images.firmware.empty()) m_entry = add_stage(images.firmware, "firmware", m_memory.base);
    if (images.kernel.empty()) return;
    const bool first = images.firmware.empty();
    const auto entry = add_stage(images.kernel, "kernel", first ? m_memory.base : m_memory.base + kernel_offset);
    (first ? m_entry : m_next_stage) = entry;
}

std::pair<std::uint64_t, std::uint64_t> boot_plan::add_initrd(const std::string& path) {
    constexpr std::uint64_t alignment = 4096;
    const auto bytes = retain(read_file(path, max_image_bytes));
    auto top = m_memory.base < max_address ? std::min(m_memory.end(), max_address) : m_memory.end();
    for (const auto& r : m_reserved)
        if (r.address > m_memory.base) top = std::min(top, r.address);
    const auto room = top - m_memory.base;
    const auto start = bytes.size() > room ? m_memory.base : (top - bytes.size()) / alignment * alignment;
    place({"initrd " + path, start, bytes.size(), bytes});
    return {start, start + bytes.size()};
}

std::vector<std::string> boot_plan::elf_files() const {
    std::vector<std::string> paths;
    for (auto elf = m_elfs.rbegin(); elf != m_elfs.rend(); ++elf) paths.push_back(elf->name());
    return paths;
}

std::optional<std::uint64_t> boot_plan::symbol(const std::string& name) const {
    for (auto elf = m_elfs.rbegin(); elf != m_elfs.rend(); ++elf) {
        const auto found = elf->symbol(name);
        if (!found) continue;
        if (const auto physical = elf->physical(*found)) return physical;
        throw input_error(fmt::format("{}: symbol '{}' lies outside of every loaded segment", elf->name(), name));
    }
    return std::nullopt;
}

}  // namespace fabricvp
