// SPDX-License-Identifier: Apache-2.0
#include "comparison.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace differential {

namespace {
const char* const csr_names[LOG_CSRS] = {"fcsr",    "mstatus", "mcause",     "mepc",       "mtval",
                                         "scause",  "sepc",    "stval",      "satp",       "medeleg",
                                         "mideleg", "mie",     "mcounteren", "scounteren", "end of trap records"};
constexpr unsigned trap_pointer_csr = 14;

std::uint64_t log_entry(std::size_t n) { return LAYOUT_LOG + n * LOG_SIZE; }

std::string both(const std::string& name, std::uint64_t ours, std::uint64_t theirs) {
    return fmt::format("{}: fabricvp {:#018x}, qemu {:#018x}\n", name, ours, theirs);
}

std::string trap_line(const guest_memory& m, std::uint64_t at) {
    return fmt::format("cause {} epc {:#x} tval {:#x} status {:#x}", m.word(at), m.word(at + 8), m.word(at + 16),
                       m.word(at + 24));
}

std::string traps(const guest_memory& ours, const guest_memory& theirs, std::uint64_t from, std::uint64_t to) {
    for (auto at = from; at < to; at += TRAP_SIZE)
        if (std::memcmp(ours.at(at), theirs.at(at), TRAP_SIZE) != 0)
            return fmt::format("trap {}:\n  fabricvp {}\n  qemu     {}\n", (at - from) / TRAP_SIZE, trap_line(ours, at),
                               trap_line(theirs, at));
    return {};
}

std::string state(const guest_memory& ours, const guest_memory& theirs, std::size_t n) {
    std::string text;
    const auto check = [&](const std::string& name, unsigned offset) {
        const auto a = ours.word(log_entry(n) + offset), b = theirs.word(log_entry(n) + offset);
        if (a != b) text += both(name, a, b);
    };
    check("number of the sequence", 0);
    for (unsigned r = 1; r < 32; ++r) check(fmt::format("x{}", r), 8 * r);
    for (unsigned r = 0; r < 32; ++r) check(fmt::format("f{}", r), LOG_F + 8 * r);
    for (unsigned c = 0; c < LOG_CSRS; ++c) check(csr_names[c], LOG_CSR + 8 * c);
    return text;
}

std::string memory(const guest_memory& ours, const guest_memory& theirs, std::uint64_t from, std::uint64_t to,
                   const char* name) {
    if (std::memcmp(ours.at(from), theirs.at(from), to - from) == 0) return {};
    std::string text;
    for (auto a = from; a < to && text.size() < 500; a += 8)
        if (ours.word(a) != theirs.word(a))
            text += both(fmt::format("{} at {:#x}", name, a), ours.word(a), theirs.word(a));
    return text;
}
}  // namespace

std::optional<difference> compare(const guest_memory& ours, const guest_memory& theirs, std::size_t sequences) {
    std::uint64_t trap_start = LAYOUT_TRAPS;
    for (std::size_t n = 0; n < sequences; ++n) {
        const auto end_of = [&](const guest_memory& m) {
            return m.word(log_entry(n) + LOG_CSR + 8 * trap_pointer_csr);
        };
        const auto end =
            std::clamp<std::uint64_t>(std::min(end_of(ours), end_of(theirs)), trap_start, LAYOUT_TRAPS_END);
        auto text = traps(ours, theirs, trap_start, end) + state(ours, theirs, n);
        const auto window = LAYOUT_WINDOWS + n * 4096;
        text += memory(ours, theirs, window, window + 4096, "window");
        if (!text.empty()) return difference{static_cast<long>(n), text};
        trap_start = end;
    }
    for (const auto& [from, to, name] :
         {std::tuple(LAYOUT_PAGES, LAYOUT_WINDOWS, "translated page"),
          std::tuple(LAYOUT_TABLES, LAYOUT_PAGES, "page table"), std::tuple(LAYOUT_CODE, LAYOUT_CODE_END, "code"),
          std::tuple(LAYOUT_HEADER, LAYOUT_DESCRIPTORS, "runtime status")}) {
        auto text = memory(ours, theirs, from, to, name);
        if (!text.empty()) return difference{-1, text};
    }
    if (ours.word(LAYOUT_HEADER + HEADER_STATUS) == 1) return difference{-1, "the program counter left the sequences"};
    return {};
}

}  // namespace differential
