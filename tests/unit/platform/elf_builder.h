// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>

namespace fabricvp::test {

/// Makes small ELF files, right or deliberately wrong: change the public headers before build().
class elf_builder {
public:
    Elf64_Ehdr header{};
    struct segment {
        Elf64_Phdr header;
        std::string bytes;
    };
    std::vector<segment> segments;
    std::vector<std::pair<std::string, std::uint64_t>> symbols;

    explicit elf_builder(std::uint64_t entry = 0x80000000) {
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_EXEC;
        header.e_machine = EM_RISCV;
        header.e_version = EV_CURRENT;
        header.e_entry = entry;
        header.e_ehsize = sizeof(Elf64_Ehdr);
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_shentsize = sizeof(Elf64_Shdr);
    }

    elf_builder& add(std::uint64_t address, std::string bytes, std::uint64_t memory_size = 0) {
        segment s{};
        s.header.p_type = PT_LOAD;
        s.header.p_flags = PF_R | PF_W | PF_X;
        s.header.p_vaddr = s.header.p_paddr = address;
        s.header.p_filesz = bytes.size();
        s.header.p_memsz = memory_size ? memory_size : bytes.size();
        s.header.p_align = 1;
        s.bytes = std::move(bytes);
        segments.push_back(std::move(s));
        return *this;
    }

    std::string build() const {
        auto h = header;
        h.e_phoff = sizeof h;
        h.e_phnum = static_cast<Elf64_Half>(segments.size());
        std::uint64_t offset = sizeof h + segments.size() * sizeof(Elf64_Phdr);
        std::string heads, bodies;
        for (auto s : segments) {
            if (s.header.p_offset == 0) s.header.p_offset = offset + bodies.size();  // others are wrong on purpose
            heads.append(reinterpret_cast<const char*>(&s.header), sizeof s.header);
            bodies += s.bytes;
        }
        offset += bodies.size();
        std::string tables;
        if (!symbols.empty()) {
            std::string names(1, '\0'), entries(sizeof(Elf64_Sym), '\0');
            for (const auto& [name, value] : symbols) {
                Elf64_Sym s{};
                s.st_name = static_cast<Elf64_Word>(names.size());
                s.st_shndx = SHN_ABS;
                s.st_value = value;
                entries.append(reinterpret_cast<const char*>(&s), sizeof s);
                names += name + '\0';
            }
            Elf64_Shdr sections[3]{};
            sections[1].sh_type = SHT_SYMTAB;
            sections[1].sh_offset = offset;
            sections[1].sh_size = entries.size();
            sections[1].sh_entsize = sizeof(Elf64_Sym);
            sections[1].sh_link = 2;
            sections[2].sh_type = SHT_STRTAB;
            sections[2].sh_offset = offset + entries.size();
            sections[2].sh_size = names.size();
            h.e_shoff = offset + entries.size() + names.size();
            h.e_shnum = 3;
            tables = entries + names + std::string(reinterpret_cast<const char*>(sections), sizeof sections);
        }
        return std::string(reinterpret_cast<const char*>(&h), sizeof h) + heads + bodies + tables;
    }
};

}  // namespace fabricvp::test
