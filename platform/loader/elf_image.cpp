// SPDX-License-Identifier: Apache-2.0
#include "platform/loader/elf_image.h"

#include <algorithm>
#include <cstring>

#include <elf.h>

#include <fmt/format.h>

#include "platform/common/input_error.h"

namespace fabricvp {
namespace {

const char* machine_name(unsigned machine) {
    switch (machine) {
        case EM_386: return "x86";
        case EM_X86_64: return "x86-64";
        case EM_ARM: return "ARM";
        case EM_AARCH64: return "AArch64";
        case EM_PPC64: return "PowerPC64";
        case EM_MIPS: return "MIPS";
        case EM_S390: return "S/390";
        default: return nullptr;
    }
}

}  // namespace

bool elf_image::recognised(std::string_view contents) {
    return contents.size() >= SELFMAG && std::memcmp(contents.data(), ELFMAG, SELFMAG) == 0;
}

void elf_image::reject(const std::string& why) const { throw input_error(m_name + ": " + why); }

template <class T>
T elf_image::read(std::uint64_t offset, const char* what) const {
    if (offset > m_contents.size() || m_contents.size() - offset < sizeof(T))
        reject(fmt::format("truncated ELF file: the {} lies outside of its {} bytes", what, m_contents.size()));
    T value;
    std::memcpy(&value, m_contents.data() + offset, sizeof(T));
    return value;
}

elf_image::table elf_image::checked_table(std::uint64_t offset, std::uint64_t count, std::uint64_t stride,
                                          std::uint64_t min, const char* what) const {
    if (count == 0) return {0, 0, min};
    if (stride < min) reject(fmt::format("broken ELF file: entries of the {} have {} bytes", what, stride));
    if (offset > m_contents.size() || (m_contents.size() - offset) / stride < count)
        reject(fmt::format("truncated ELF file: the {} lies outside of its {} bytes", what, m_contents.size()));
    return {offset, count, stride};
}

elf_image::elf_image(std::string_view contents, std::string name) : m_contents(contents), m_name(std::move(name)) {
    if (!recognised(contents)) reject("not an ELF file");
    if (contents.size() < EI_NIDENT) reject("truncated ELF file: no complete header");
    if (contents[EI_CLASS] == ELFCLASS32) reject("a 32-bit ELF file; the harts run 64-bit code (RV64)");
    if (contents[EI_CLASS] != ELFCLASS64) reject("broken ELF file: unknown class");
    if (contents[EI_DATA] != ELFDATA2LSB) reject("a big-endian ELF file; the harts are little-endian");
    const auto header = read<Elf64_Ehdr>(0, "header");
    if (header.e_machine != EM_RISCV) {
        const auto* other = machine_name(header.e_machine);
        reject(fmt::format("an ELF file for {}, not for RISC-V",
                           other ? other : fmt::format("machine {}", header.e_machine)));
    }
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        reject(header.e_type == ET_REL ? "an object file that is not linked yet" : "not an executable ELF file");
    if (header.e_phnum == PN_XNUM) reject("broken ELF file: too many program headers");
    m_sections = checked_table(header.e_shoff, header.e_shnum, header.e_shentsize, sizeof(Elf64_Shdr), "section table");
    read_segments(
        checked_table(header.e_phoff, header.e_phnum, header.e_phentsize, sizeof(Elf64_Phdr), "program header table"));
    const auto entry = physical(header.e_entry);
    if (!entry) reject(fmt::format("the entry point {:#x} lies outside of every loaded segment", header.e_entry));
    m_entry = *entry;
}

void elf_image::read_segments(const table& headers) {
    for (std::uint64_t i = 0; i < headers.count; ++i) {
        const auto p = read<Elf64_Phdr>(headers.offset + i * headers.stride, "program header");
        if (p.p_type != PT_LOAD || p.p_memsz == 0) continue;
        if (p.p_filesz > p.p_memsz)
            reject(fmt::format("broken ELF file: segment {} is larger in the file than in memory", i));
        if (p.p_offset > m_contents.size() || p.p_filesz > m_contents.size() - p.p_offset)
            reject(fmt::format("truncated ELF file: segment {} ends behind its {} bytes", i, m_contents.size()));
        if (p.p_paddr + (p.p_memsz - 1) < p.p_paddr || p.p_vaddr + (p.p_memsz - 1) < p.p_vaddr)
            reject(fmt::format("broken ELF file: segment {} runs over the end of the address space", i));
        m_segments.push_back({p.p_paddr, p.p_vaddr, p.p_memsz, m_contents.substr(p.p_offset, p.p_filesz)});
    }
    if (m_segments.empty()) reject("nothing to load in this ELF file");
    std::stable_sort(m_segments.begin(), m_segments.end(),
                     [](const segment& a, const segment& b) { return a.physical < b.physical; });
    for (std::size_t i = 1; i < m_segments.size(); ++i)
        if (m_segments[i].physical <= m_segments[i - 1].last())
            reject(fmt::format("segments overlap at {:#x}", m_segments[i].physical));
}

std::optional<std::uint64_t> elf_image::physical(std::uint64_t virtual_address) const {
    for (const auto& s : m_segments)
        if (virtual_address - s.virtual_address < s.memory_size)
            return s.physical + (virtual_address - s.virtual_address);
    return std::nullopt;
}

std::optional<std::uint64_t> elf_image::symbol(std::string_view wanted) const {
    for (std::uint64_t i = 0; i < m_sections.count; ++i) {
        const auto section = read<Elf64_Shdr>(m_sections.offset + i * m_sections.stride, "section header");
        if (section.sh_type != SHT_SYMTAB) continue;
        if (section.sh_link >= m_sections.count) reject("broken ELF file: the symbol table has no names");
        const auto names = read<Elf64_Shdr>(m_sections.offset + section.sh_link * m_sections.stride, "section header");
        const auto text = checked_table(names.sh_offset, names.sh_size, 1, 1, "symbol names");
        const auto symbols = checked_table(section.sh_offset, section.sh_size / sizeof(Elf64_Sym), sizeof(Elf64_Sym),
                                           sizeof(Elf64_Sym), "symbol table");
        const auto strings = m_contents.substr(text.offset, text.count);
        for (std::uint64_t n = 0; n < symbols.count; ++n) {
            const auto s = read<Elf64_Sym>(symbols.offset + n * symbols.stride, "symbol");
            if (s.st_name >= strings.size() || s.st_shndx == SHN_UNDEF) continue;
            const auto rest = strings.substr(s.st_name);
            if (rest.size() > wanted.size() && rest.compare(0, wanted.size(), wanted) == 0 &&
                rest[wanted.size()] == '\0')
                return s.st_value;
        }
    }
    return std::nullopt;
}

}  // namespace fabricvp
