// SPDX-License-Identifier: Apache-2.0
// Where the images of a node go, worked out and checked before a byte of them is written.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/loader/elf_image.h"
#include "platform/loader/image_set.h"

namespace fabricvp {

/// The memory that images may lie in.
struct memory_range {
    std::string node;  ///< for messages
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    std::uint64_t end() const { return base + size; }
};

class boot_plan {
public:
    /// A stretch of memory to be written: the bytes, then zeros up to `size`.
    struct load_region {
        std::string what;
        std::uint64_t address;
        std::uint64_t size;
        std::string_view bytes;
    };

    static constexpr std::uint64_t kernel_offset = 0x200000;      ///< where fw_jump and QEMU put the next stage
    static constexpr std::uint64_t max_address = 0xc0000000;      ///< 32-bit firmware looks no further for its blobs
    static constexpr std::uint64_t max_image_bytes = 1ull << 31;  ///< largest file taken

    explicit boot_plan(memory_range memory) : m_memory(std::move(memory)) {}

    /// Reads firmware and kernel; paths must be resolved. \throws input_error
    void add_stages(const image_set& images);
    /// Places the initial RAM disk; returns [start, end). \throws input_error
    std::pair<std::uint64_t, std::uint64_t> add_initrd(const std::string& path);
    /// Keeps a range free for what another loader writes. \throws input_error
    void reserve(const std::string& what, std::uint64_t address, std::uint64_t size);
    /// Places an ELF file's segments; returns its physical entry point. \throws input_error
    std::uint64_t add_elf(const std::string& path, const char* role);
    std::uint64_t add_elf(std::string contents, const std::string& name, const char* role);
    void add_raw(const std::string& path, const char* role, std::uint64_t address);

    /// First instruction of the firmware, and of what the firmware starts (0 if there is none).
    std::uint64_t entry() const { return m_entry; }
    std::uint64_t next_stage() const { return m_next_stage; }
    /// Physical address of a symbol in the kernel or else the firmware. \throws input_error
    std::optional<std::uint64_t> symbol(const std::string& name) const;

    /// Paths of the ELF files among the images, the last one loaded first.
    std::vector<std::string> elf_files() const;
    const std::vector<load_region>& load_regions() const { return m_load_regions; }
    const memory_range& memory() const { return m_memory; }

private:
    std::string_view retain(std::string bytes);
    void check(const load_region& p) const;
    void place(load_region p);
    std::uint64_t place_elf(std::string_view contents, const std::string& path, const char* role);
    void place_raw(std::string_view contents, const std::string& path, const char* role, std::uint64_t address);
    std::uint64_t add_stage(const std::string& path, const char* role, std::uint64_t raw_address);

    memory_range m_memory;
    std::deque<std::string> m_contents;  // a deque: pieces and ELF files point into its strings
    std::vector<load_region> m_load_regions;
    std::vector<elf_image> m_elfs;
    std::vector<load_region> m_reserved;
    std::uint64_t m_entry = 0, m_next_stage = 0;
};

}  // namespace fabricvp
