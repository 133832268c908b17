// SPDX-License-Identifier: Apache-2.0
#include "minimiser.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "platform/loader/elf_image.h"
#include "runners.h"

namespace differential {

bench::bench(const std::string& runtime_elf, unsigned translate_after) : m_translate_after(translate_after) {
    std::ifstream file(runtime_elf, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + runtime_elf);
    m_runtime.assign(std::istreambuf_iterator<char>(file), {});
}

void bench::prepare(guest_memory& m, const program& p, long only) {
    m.clear();
    const fabricvp::elf_image runtime(m_runtime, "runtime");
    for (const auto& s : runtime.segments())
        std::memcpy(m.bytes() + (s.physical - LAYOUT_DRAM), s.bytes.data(), s.bytes.size());
    p.place(m.bytes(), only);
}

std::optional<difference> bench::try_program(const program& p, long only) {
    prepare(m_ours, p, only);
    prepare(m_theirs, p, only);
    const auto qemu = run_on_qemu(m_theirs);
    if (!qemu.failure.empty()) return difference{-1, "qemu: " + qemu.failure + "\n"};
    const auto own = run_on_fabricvp(m_ours, m_translate_after);
    m_instructions = own.instructions;
    m_sequences = only < 0 ? p.size() : 1;
    auto d = compare(m_ours, m_theirs, m_sequences);
    if (!own.failure.empty()) {
        if (!d) d = difference{};
        d->what = "fabricvp: " + own.failure + "\n" + d->what;
    }
    return d;
}

std::uint64_t bench::random_instructions() const {
    constexpr std::uint64_t per_sequence = 280, per_trap = 64;  // at most
    const auto around = m_sequences * per_sequence + traps() * per_trap;
    return m_instructions > around ? m_instructions - around : 0;
}

std::uint64_t bench::traps() const {
    return (m_ours.word(LAYOUT_LOG + (m_sequences - 1) * LOG_SIZE + LOG_CSR + 8 * 14) - LAYOUT_TRAPS) / TRAP_SIZE;
}

std::optional<difference> minimise(program& p, std::size_t n, bench& b) {
    const auto only = static_cast<long>(n);
    auto last = b.try_program(p, only);
    if (!last) return last;
    auto& units = p.at(n).units;
    // Big bites first, then unit by unit.
    for (std::size_t bite = units.size() / 2; bite > 0; bite /= 2) {
        for (std::size_t from = 0; from < units.size(); from += bite) {
            const auto saved = units;
            bool changed = false;
            for (auto k = from; k < std::min(from + bite, units.size()); ++k) {
                if (units[k].code.empty() || units[k].fixed) continue;
                units[k].code.clear();
                changed = true;
            }
            if (!changed) continue;
            auto d = b.try_program(p, only);
            if (d && d->what.rfind("qemu:", 0) != 0)
                last = d;
            else
                units = saved;
        }
    }
    return last;
}

std::string listing(const sequence& s, std::uint64_t address) {
    std::string text =
        fmt::format("status {:#x} satp {:#x} medeleg {:#x} fcsr {:#x}\n", s.status, s.satp, s.medeleg, s.fcsr);
    for (unsigned r = 0; r < 32; ++r) text += fmt::format("x{:<2} {:#018x}  f{:<2} {:#018x}\n", r, s.x[r], r, s.f[r]);
    const auto bytes = program::assemble(s);
    char name[] = "/tmp/differential-code-XXXXXX";
    const int file = mkstemp(name);
    if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return text;
    close(file);
    const auto command =
        fmt::format("riscv64-unknown-elf-objdump -D -b binary -m riscv:rv64 -M no-aliases --adjust-vma={:#x} {} 2>&1",
                    address, name);
    if (auto* const pipe = popen(command.c_str(), "r")) {
        char line[256];
        while (std::fgets(line, sizeof line, pipe))
            if (std::strchr(line, '\t')) text += line;
        pclose(pipe);
    }
    unlink(name);
    return text;
}

}  // namespace differential
