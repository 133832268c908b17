// SPDX-License-Identifier: Apache-2.0
#include "platform/profile/debug_file.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_map>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>
#include <gelf.h>

#include "platform/common/files.h"
#include "platform/common/input_error.h"

namespace fabricvp {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{1} << 30;

/// How a register of the caller is found.
struct saved_register {
    enum class kind { unknown, same, at_offset } where = kind::unknown;
    std::int64_t offset = 0;  // from the canonical frame address
};

/// How the caller of an address is found.
struct unwind_rule {
    bool known = false;
    unsigned cfa_register = 0;
    std::int64_t cfa_offset = 0;
    saved_register ra, fp;
};

constexpr unsigned x_ra = 1, x_sp = 2, x_fp = 8;  // numbers of the RISC-V psABI

saved_register saved_at(Dwarf_Frame* frame, int number) {
    Dwarf_Op memory[3];
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0) return {};
    if (count == 0) return {ops ? saved_register::kind::unknown : saved_register::kind::same, 0};
    if (ops[0].atom != DW_OP_call_frame_cfa) return {};
    if (count == 1) return {saved_register::kind::at_offset, 0};
    if (count == 2 && ops[1].atom == DW_OP_plus_uconst)
        return {saved_register::kind::at_offset, static_cast<std::int64_t>(ops[1].number)};
    return {};
}

unwind_rule rule_of(Dwarf_CFI* cfi, std::uint64_t pc) {
    unwind_rule rule;
    Dwarf_Frame* frame = nullptr;
    if (!cfi || dwarf_cfi_addrframe(cfi, pc, &frame) != 0) return rule;
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1) {
        if (ops[0].atom == DW_OP_bregx) {
            rule = {true, static_cast<unsigned>(ops[0].number), static_cast<std::int64_t>(ops[0].number2), {}, {}};
        } else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
            rule = {true,
                    static_cast<unsigned>(ops[0].atom - DW_OP_breg0),
                    static_cast<std::int64_t>(ops[0].number),
                    {},
                    {}};
        }
        rule.ra = saved_at(frame, x_ra);
        rule.fp = saved_at(frame, x_fp);
    }
    std::free(frame);
    return rule;
}

std::string name_of(Dwarf_Die& die) {
    const char* const name = dwarf_diename(&die);
    return name ? name : "?";
}

unsigned number_of(Dwarf_Die& die, unsigned attribute) {
    Dwarf_Attribute a;
    Dwarf_Word value = 0;
    return dwarf_attr(&die, attribute, &a) && dwarf_formudata(&a, &value) == 0 ? static_cast<unsigned>(value) : 0;
}

bool is_function(Dwarf_Die& die) {
    return dwarf_tag(&die) == DW_TAG_subprogram || dwarf_tag(&die) == DW_TAG_inlined_subroutine;
}

}  // namespace

struct debug_file::implementation {
    explicit implementation(std::string& contents) : elf(elf_memory(contents.data(), contents.size())) {
        if (!elf || elf_kind(elf) != ELF_K_ELF) return;
        dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
        elf_frames = dwarf_getcfi_elf(elf);
        if (!dwarf) return;
        debug_frames = dwarf_getcfi(dwarf);
        Dwarf_CU* unit = nullptr;
        Dwarf_Die die, sub;
        std::uint8_t type = 0;
        while (dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &die, &sub) == 0)
            if (type == DW_UT_compile) {
                units.push_back(die);
                Dwarf_Addr base = 0, begin = 0, end = 0;
                for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&units.back(), at, &base, &begin, &end)) > 0;)
                    if (begin < end) ranges[begin] = {end, units.size() - 1};
            }
    }
    ~implementation() {
        if (elf_frames) dwarf_cfi_end(elf_frames);
        if (dwarf) dwarf_end(dwarf);
        if (elf) elf_end(elf);
    }
    implementation(const implementation&) = delete;
    implementation& operator=(const implementation&) = delete;

    Dwarf_Die* unit_at(std::uint64_t address) {
        auto at = ranges.upper_bound(address);
        if (at == ranges.begin()) return nullptr;
        --at;
        return address < at->second.first ? &units[at->second.second] : nullptr;
    }
    std::vector<source_place> places(Dwarf_Die& unit, std::uint64_t address);

    Elf* elf = nullptr;
    Dwarf* dwarf = nullptr;
    Dwarf_CFI *debug_frames = nullptr, *elf_frames = nullptr;
    std::vector<Dwarf_Die> units;
    std::map<std::uint64_t, std::pair<std::uint64_t, std::size_t>> ranges;  // begin → end and unit
    std::unordered_map<std::uint64_t, unwind_rule> rules;
};

/// As addr2line -i has it: scopes of an address do not say who an inlined function was inlined into, those of its
/// entry do.
std::vector<source_place> debug_file::implementation::places(Dwarf_Die& unit, std::uint64_t address) {
    std::vector<source_place> found;
    Dwarf_Die* scopes = nullptr;
    if (dwarf_getscopes(&unit, address, &scopes) <= 0) return found;
    Dwarf_Die innermost = scopes[0];
    std::free(scopes);
    scopes = nullptr;
    const int count = dwarf_getscopes_die(&innermost, &scopes);
    std::string file;
    unsigned line = 0;
    if (auto* const row = dwarf_getsrc_die(&unit, address)) {
        int number = 0;
        const char* const name = dwarf_linesrc(row, nullptr, nullptr);
        file = name ? name : "";
        line = dwarf_lineno(row, &number) == 0 ? static_cast<unsigned>(number) : 0;
    }
    Dwarf_Files* files = nullptr;
    std::size_t file_count = 0;
    if (dwarf_getsrcfiles(&unit, &files, &file_count) != 0) file_count = 0;
    for (int i = 0; i < count; ++i) {
        if (!is_function(scopes[i])) continue;
        found.push_back({name_of(scopes[i]), file, line});
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) break;
        const auto called_in = number_of(scopes[i], DW_AT_call_file);
        const char* const name = called_in < file_count ? dwarf_filesrc(files, called_in, nullptr, nullptr) : nullptr;
        file = name ? name : "";
        line = number_of(scopes[i], DW_AT_call_line);
    }
    std::free(scopes);
    return found;
}

debug_file::debug_file(const std::string& path) : m_path(path), m_contents(read_file(path, max_file_bytes)) {
    elf_version(EV_CURRENT);
    m = std::make_unique<implementation>(m_contents);
    GElf_Ehdr header;
    if (!m->elf || elf_kind(m->elf) != ELF_K_ELF || !gelf_getehdr(m->elf, &header))
        throw input_error(fmt::format("{}: is no ELF file", path));
    m_entry = header.e_entry;
    read_segments();
    read_symbols();
}

debug_file::~debug_file() = default;

void debug_file::read_segments() {
    std::size_t count = 0;
    if (elf_getphdrnum(m->elf, &count) != 0) return;
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr h;
        if (!gelf_getphdr(m->elf, static_cast<int>(i), &h) || h.p_type != PT_LOAD || !(h.p_flags & PF_X)) continue;
        if (h.p_offset > m_contents.size() || h.p_filesz > m_contents.size() - h.p_offset) continue;
        m_code.push_back(
            {h.p_vaddr, h.p_paddr, h.p_filesz, std::string_view(m_contents).substr(h.p_offset, h.p_filesz)});
    }
}

void debug_file::read_symbols() {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(m->elf, section));) {
        GElf_Shdr h;
        if (!gelf_getshdr(section, &h) || h.sh_type != SHT_SYMTAB || !h.sh_entsize) continue;
        Elf_Data* const data = elf_getdata(section, nullptr);
        for (std::size_t i = 0; data && i < h.sh_size / h.sh_entsize; ++i) {
            GElf_Sym s;
            if (!gelf_getsym(data, static_cast<int>(i), &s)) continue;
            const auto type = GELF_ST_TYPE(s.st_info);
            const char* const name = elf_strptr(m->elf, h.sh_link, s.st_name);
            if ((type != STT_FUNC && type != STT_NOTYPE) || !name || !*name || *name == '.' || *name == '$') continue;
            if (holds(s.st_value)) m_symbols.emplace_back(s.st_value, name);
        }
    }
    std::sort(m_symbols.begin(), m_symbols.end());
}

bool debug_file::holds(std::uint64_t address) const {
    return std::any_of(m_code.begin(), m_code.end(),
                       [&](const segment& s) { return address - s.virtual_address < s.size; });
}

std::string_view debug_file::bytes(std::uint64_t address, std::size_t size) const {
    for (const auto& s : m_code)
        if (address - s.virtual_address < s.size && s.size - (address - s.virtual_address) >= size)
            return s.bytes.substr(address - s.virtual_address, size);
    return {};
}

std::optional<std::uint64_t> debug_file::virtual_address(std::uint64_t physical) const {
    for (const auto& s : m_code)
        if (physical - s.physical < s.size) return s.virtual_address + (physical - s.physical);
    return std::nullopt;
}

std::vector<source_place> debug_file::places(std::uint64_t address) {
    if (auto* const unit = m->unit_at(address))
        if (auto found = m->places(*unit, address); !found.empty()) return found;
    auto at = std::upper_bound(m_symbols.begin(), m_symbols.end(), address,
                               [](std::uint64_t a, const auto& symbol) { return a < symbol.first; });
    if (at == m_symbols.begin()) return {};
    return {{(--at)->second, "", 0}};
}

std::optional<riscv::hart_frame> debug_file::caller(const riscv::hart_frame& frame, const reader& read, bool call) {
    const auto pc = call ? frame.pc - 1 : frame.pc;
    auto known = m->rules.find(pc);
    if (known == m->rules.end()) {
        auto rule = rule_of(m->debug_frames, pc);
        if (!rule.known) rule = rule_of(m->elf_frames, pc);
        known = m->rules.emplace(pc, rule).first;
    }
    const auto& rule = known->second;
    if (!rule.known || (rule.cfa_register != x_sp && rule.cfa_register != x_fp)) return std::nullopt;
    const auto base = rule.cfa_register == x_sp ? frame.sp : frame.fp;
    const auto cfa = base + static_cast<std::uint64_t>(rule.cfa_offset);
    auto up = frame;
    const auto restore = [&](const saved_register& r, std::uint64_t& value) {
        if (r.where == saved_register::kind::same) return true;
        return r.where == saved_register::kind::at_offset &&
               read(cfa + static_cast<std::uint64_t>(r.offset), &value, sizeof value);
    };
    if (!restore(rule.ra, up.ra) || (call && rule.ra.where == saved_register::kind::same)) return std::nullopt;
    if (!restore(rule.fp, up.fp)) up.fp = 0;
    up.pc = up.ra;
    up.sp = cfa;
    return up;
}

std::vector<debug_file::line_range> debug_file::lines() {
    std::vector<line_range> all;
    for (auto& unit : m->units) {
        Dwarf_Lines* rows = nullptr;
        std::size_t count = 0;
        if (dwarf_getsrclines(&unit, &rows, &count) != 0) continue;
        for (std::size_t i = 0; i + 1 < count; ++i) {
            auto *const row = dwarf_onesrcline(rows, i), *const next = dwarf_onesrcline(rows, i + 1);
            Dwarf_Addr begin = 0, end = 0;
            bool last = false;
            int line = 0;
            dwarf_lineendsequence(row, &last);
            dwarf_lineaddr(row, &begin);
            dwarf_lineaddr(next, &end);
            const char* const file = dwarf_linesrc(row, nullptr, nullptr);
            if (last || begin >= end || !file || dwarf_lineno(row, &line) != 0 || line == 0 || !holds(begin)) continue;
            all.push_back({begin, end, file, static_cast<unsigned>(line)});
        }
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::tie(a.begin, a.end, a.file, a.line) < std::tie(b.begin, b.end, b.file, b.line);
    });
    return all;
}

std::vector<debug_file::function_entry> debug_file::functions() {
    std::vector<function_entry> all;
    const auto add = [](Dwarf_Die* die, void* to) {
        auto& [self, found] = *static_cast<std::pair<debug_file*, std::vector<function_entry>*>*>(to);
        Dwarf_Addr address = 0;
        int line = 0;
        const char* const file = dwarf_decl_file(die);
        if (dwarf_entrypc(die, &address) == 0 && self->holds(address) && file && dwarf_decl_line(die, &line) == 0)
            found->push_back({address, name_of(*die), file, static_cast<unsigned>(line)});
        return static_cast<int>(DWARF_CB_OK);
    };
    std::pair<debug_file*, std::vector<function_entry>*> to{this, &all};
    for (auto& unit : m->units) dwarf_getfuncs(&unit, add, &to, 0);
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return std::tie(a.address, a.name) < std::tie(b.address, b.name); });
    return all;
}

}  // namespace fabricvp
