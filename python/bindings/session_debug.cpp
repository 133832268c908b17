// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <fmt/format.h>

#include "bindings/session.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/loader/elf_image.h"

namespace fabricvp::python {
namespace {

constexpr std::size_t max_elf_bytes = std::size_t{1} << 30;

riscv::watch_kind kind_of(const std::string& name) {
    if (name == "write") return riscv::watch_kind::write;
    if (name == "read") return riscv::watch_kind::read;
    return riscv::watch_kind::access;
}

}  // namespace

riscv::hart& session::hart(std::size_t node, std::size_t index) {
    auto& harts = at(node).harts;
    if (index >= harts.size()) throw std::out_of_range(fmt::format("node {} has {} harts", node, harts.size()));
    return *harts[index];
}

void session::check_not_debugged(std::size_t node) const {
    if (m_platform->debugged(node))
        throw std::runtime_error(fmt::format("GDB is attached to node {} and has its breakpoints", node));
}

void session::insert_breakpoint(std::size_t node, std::uint64_t address) {
    auto& stops = *at(node).stops;
    check_not_debugged(node);
    stops.insert_breakpoint(address);
}

void session::remove_breakpoint(std::size_t node, std::uint64_t address) { at(node).stops->remove_breakpoint(address); }

void session::insert_watchpoint(std::size_t node, std::uint64_t address, std::uint64_t size, const std::string& kind) {
    if (size == 0 || address + (size - 1) < address)
        throw input_error("a watchpoint needs at least one byte, and an end");
    auto& stops = *at(node).stops;
    check_not_debugged(node);
    stops.insert_watchpoint(address, size, kind_of(kind));
}

void session::remove_watchpoint(std::size_t node, std::uint64_t address, std::uint64_t size, const std::string& kind) {
    at(node).stops->remove_watchpoint(address, size, kind_of(kind));
}

std::uint64_t session::symbol(std::size_t node, const std::string& name) {
    const auto& files = at(node).elf_files;
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
        const auto contents = read_file(*file, max_elf_bytes);
        if (!elf_image::recognised(contents)) continue;
        if (const auto found = elf_image(contents, *file).symbol(name)) return *found;
    }
    throw input_error(files.empty() ? fmt::format("no symbol '{}': no ELF file is loaded into node {}", name, node)
                                    : fmt::format("no symbol '{}' in {}", name, fmt::join(files, ", ")));
}

}  // namespace fabricvp::python
