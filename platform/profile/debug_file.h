// SPDX-License-Identifier: Apache-2.0
// An ELF file and its debug information, read by elfutils' libdw: which source an address comes from, with functions
// that were inlined there, and who called it (DWARF call frame information).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "riscv/hart_probe.h"

namespace fabricvp {

struct source_place {
    std::string function;
    std::string file;   ///< empty: not known
    unsigned line = 0;  ///< 0: not known
};

class debug_file {
public:
    /// Reads `size` bytes at an address of the program. \returns false if they are not there
    using reader = std::function<bool(std::uint64_t address, void* to, std::size_t size)>;
    /// A stretch of code that a line of source became.
    struct line_range {
        std::uint64_t begin, end;
        std::string_view file;  ///< lives as long as the debug_file
        unsigned line;
    };
    struct function_entry {
        std::uint64_t address;
        std::string name;
        std::string_view file;
        unsigned line;
    };

    /// \throws input_error if it is no ELF file
    explicit debug_file(const std::string& path);
    ~debug_file();
    debug_file(const debug_file&) = delete;
    debug_file& operator=(const debug_file&) = delete;

    const std::string& path() const { return m_path; }
    std::uint64_t entry() const { return m_entry; }
    /// Whether an executable segment has the virtual address.
    bool holds(std::uint64_t address) const;
    /// Bytes of the file at a virtual address that are all in it; else empty.
    std::string_view bytes(std::uint64_t address, std::size_t size) const;
    /// The virtual address of a physical one of an executable segment.
    std::optional<std::uint64_t> virtual_address(std::uint64_t physical) const;

    /// Functions at an address, the innermost inlined one first, each with the line in it; not empty if the file has
    /// debug information or a symbol there.
    std::vector<source_place> places(std::uint64_t address);
    /// The frame of the caller, if call frame information tells. \param read memory of the program \param call `frame`
    /// is in a call: its pc is a return address
    std::optional<riscv::hart_frame> caller(const riscv::hart_frame& frame, const reader& read, bool call);
    /// All lines of source that became code, by address.
    std::vector<line_range> lines();
    /// All functions that have code of their own, by address.
    std::vector<function_entry> functions();

private:
    struct segment {
        std::uint64_t virtual_address, physical, size;
        std::string_view bytes;
    };
    struct implementation;
    void read_segments();
    void read_symbols();

    std::string m_path, m_contents;
    std::uint64_t m_entry = 0;
    std::vector<segment> m_code;
    std::vector<std::pair<std::uint64_t, std::string>> m_symbols;  // by address
    std::unique_ptr<implementation> m;
};

}  // namespace fabricvp
