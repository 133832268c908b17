// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricvp {

/// An executable for RV64, read from untrusted bytes: every offset is checked before it is followed (System V ABI,
/// chapters 4 and 5, and the RISC-V ELF psABI).
class elf_image {
public:
    /// One PT_LOAD program header with a size.
    struct segment {
        std::uint64_t physical, virtual_address;
        std::uint64_t memory_size;  ///< bytes in memory; those behind `bytes` are zero
        std::string_view bytes;     ///< from the file, inside the contents given to parse()
        std::uint64_t last() const { return physical + (memory_size - 1); }
    };

    /// True if the contents start like an ELF file.
    static bool recognised(std::string_view contents);

    /// \param contents the whole file; must outlive the image
    /// \param name of the file, for messages
    /// \throws input_error if it is truncated, for another machine, or contradicts itself
    elf_image(std::string_view contents, std::string name);

    const std::string& name() const { return m_name; }
    /// Physical address of the entry point.
    std::uint64_t entry() const { return m_entry; }
    /// In order of physical address, without overlaps.
    const std::vector<segment>& segments() const { return m_segments; }
    /// Virtual address of a symbol. \throws input_error if the symbol table is broken
    std::optional<std::uint64_t> symbol(std::string_view wanted) const;
    /// Physical address of a virtual one, if a segment holds it.
    std::optional<std::uint64_t> physical(std::uint64_t virtual_address) const;

private:
    struct table {
        std::uint64_t offset, count, stride;
    };
    template <class T>
    T read(std::uint64_t offset, const char* what) const;
    table checked_table(std::uint64_t offset, std::uint64_t count, std::uint64_t stride, std::uint64_t min,
                        const char* what) const;
    [[noreturn]] void reject(const std::string& why) const;
    void read_segments(const table& headers);

    std::string_view m_contents;
    std::string m_name;
    std::uint64_t m_entry = 0;
    std::vector<segment> m_segments;
    table m_sections{};
};

}  // namespace fabricvp
