// SPDX-License-Identifier: Apache-2.0
#include "riscv/mmu.h"

#include <algorithm>
#include <cstring>

namespace fabricvp::riscv {

namespace {
constexpr std::uint64_t pte_v = 1, pte_r = 2, pte_w = 4, pte_x = 8, pte_u = 16, pte_a = 64, pte_d = 128;
constexpr std::uint64_t pte_high = ~std::uint64_t{0} << 54;  // Svnapot, Svpbmt, reserved
constexpr std::uint64_t page_mask = 0xfff;
constexpr unsigned modes_shift = 60, sv39 = 8, sv48 = 9;
}  // namespace

mmu::mmu(hart_state& state, pmp& protection, const direct_memory_map& memory, memory_observer& self)
    : m_state(state), m_pmp(protection), m_memory(memory), m_self(self) {}

mmu::~mmu() {
    for (auto* memory : m_attached) memory->detach(m_self);
}

cause mmu::page_fault(access_type kind) {
    return kind == access_type::read    ? cause::load_page
           : kind == access_type::write ? cause::store_page
                                        : cause::instruction_page;
}

cause mmu::access_fault(access_type kind) {
    return kind == access_type::read    ? cause::load_access
           : kind == access_type::write ? cause::store_access
                                        : cause::instruction_access;
}

bool mmu::locate(std::uint64_t physical, memory_target& to, bool& writable) {
    if (physical - m_last.base >= m_last.size) {
        const auto* range = m_memory.find(physical);
        if (!range) return false;
        m_last = {range->base, range->size, range->value.offset, range->value.memory, range->value.writable};
        if (std::find(m_attached.begin(), m_attached.end(), m_last.memory) == m_attached.end()) {
            m_last.memory->attach(m_self);
            m_attached.push_back(m_last.memory);
        }
    }
    to.memory = m_last.memory;
    to.offset = m_last.offset + (physical - m_last.base);
    to.host = to.memory->data() + to.offset;
    writable = m_last.writable;
    return true;
}

sparse_memory* mmu::memory_of(const std::uint8_t* host) const {
    for (auto* memory : m_attached)
        if (host >= memory->data() && host < memory->data() + memory->size()) return memory;
    return nullptr;
}

bool mmu::permitted(std::uint64_t entry, access_type kind, privilege mode) const {
    if (mode == privilege::user && !(entry & pte_u)) return false;
    if (mode == privilege::supervisor && (entry & pte_u) &&
        (kind == access_type::execute || !(m_state.mstatus & status::sum)))
        return false;
    switch (kind) {
        case access_type::read: return (entry & pte_r) || ((entry & pte_x) && (m_state.mstatus & status::mxr));
        case access_type::write: return entry & pte_w;
        default: return entry & pte_x;
    }
}

mmu::translation mmu::walk(std::uint64_t address, access_type kind, privilege mode, bool debug, unsigned levels) {
    const unsigned width = 12 + 9 * levels;
    const auto extended = static_cast<std::int64_t>(address) >> (width - 1);
    if (extended != 0 && extended != -1) return {false, page_fault(kind), 0};
    std::uint64_t table = (m_state.satp & ((std::uint64_t{1} << 44) - 1)) << 12;
    for (unsigned level = levels; level-- > 0;) {
        const unsigned shift = 12 + 9 * level;
        const auto at = table + ((address >> shift & 511) << 3);
        memory_target place;
        bool writable = false;
        const bool readable = debug || m_pmp.allows(at, 8, access_type::read, privilege::supervisor);
        if (!readable || !locate(at, place, writable)) return {false, access_fault(kind), 0};
        if (!debug && !place.memory->readable(place.offset, sizeof(std::uint64_t)))
            return {false, access_fault(kind), 0};
        std::uint64_t entry;
        std::memcpy(&entry, place.host, sizeof entry);
        if (!debug) ++m_walk_reads;
        if (!(entry & pte_v) || (entry & (pte_r | pte_w)) == pte_w || (entry & pte_high))
            return {false, page_fault(kind), 0};
        const auto frame = (entry >> 10 << 12) & ((std::uint64_t{1} << 56) - 1);
        if (!(entry & (pte_r | pte_w | pte_x))) {
            if (entry & (pte_u | pte_a | pte_d)) return {false, page_fault(kind), 0};
            table = frame;
            continue;
        }
        const auto inside = (std::uint64_t{1} << shift) - 1;
        if (frame & inside) return {false, page_fault(kind), 0};
        if (!debug) {
            if (!permitted(entry, kind, mode)) return {false, page_fault(kind), 0};
            const auto updated = entry | pte_a | (kind == access_type::write ? pte_d : 0);
            if (updated != entry) {
                if (!writable || !m_pmp.allows(at, 8, access_type::write, privilege::supervisor))
                    return {false, access_fault(kind), 0};
                place.memory->write(place.offset, &updated, sizeof updated, &m_self);
            }
            if (level > 0) m_superpages = true;
        }
        return {true, {}, frame | (address & inside)};
    }
    return {false, page_fault(kind), 0};
}

mmu::translation mmu::translate(std::uint64_t address, access_type kind, privilege mode, bool debug) {
    const auto scheme = m_state.satp >> modes_shift;
    if (mode == privilege::machine || (scheme != sv39 && scheme != sv48)) return {true, {}, address};
    return walk(address, kind, mode, debug, scheme == sv39 ? 3 : 4);
}

/// For a page of data that the TLB may not hold.
void mmu::keep_translation(std::uint64_t address, const memory_target& to, access_type kind, privilege mode) {
    if (kind == access_type::execute) return;
    auto& entry = translation_slot(address, kind, mode);
    entry = {address & ~page_mask, to.physical & ~page_mask, nullptr, to.offset & ~page_mask};
    if (m_pmp.uniform(entry.physical)) entry.memory = to.memory;
    m_group_used[translation_group(kind, mode)] = true;
}

memory_target mmu::resolve(std::uint64_t address, unsigned size, access_type kind) {
    const auto mode = kind == access_type::execute ? m_state.mode : m_state.data_mode();
    const auto page = address & ~page_mask;
    const auto* kept = kind == access_type::execute ? nullptr : &translation_slot(address, kind, mode);
    if (kept && kept->tag != page) kept = nullptr;
    memory_target to;
    const bool known = kept && kept->memory;
    if (known) {
        to.physical = kept->physical | (address & page_mask);
        to.memory = kept->memory;
        to.offset = kept->offset | (address & page_mask);
        to.host = to.memory->data() + to.offset;
    } else {
        const auto t = kept ? translation{true, {}, kept->physical | (address & page_mask)}
                            : translate(address, kind, mode, false);
        if (!t.ok) {
            to.fault = t.fault;
            return to;
        }
        to.physical = t.physical;
        if (!m_pmp.allows(t.physical, size, kind, mode)) {
            to.fault = access_fault(kind);
            return to;
        }
        bool writable = false;
        if (!locate(t.physical, to, writable)) {
            to.place = memory_target::where::bus;
            keep_translation(address, to, kind, mode);
            return to;
        }
        if (kind == access_type::write && !writable) {
            to.fault = access_fault(kind);
            return to;
        }
    }
    const auto marks = to.memory->marks(to.offset >> sparse_memory::page_bits);
    const bool devices = (marks & sparse_memory::device) && kind != access_type::execute;
    const bool faulty = marks & sparse_memory::faulty;
    if (faulty && kind != access_type::write && !to.memory->readable(to.offset, size)) {
        to.place = memory_target::where::fault;
        to.fault = access_fault(kind);
        return to;
    }
    to.place = devices ? memory_target::where::bus : memory_target::where::direct;
    to.plain = !devices && !faulty && (kind != access_type::write || !(marks & ~unsigned{sparse_memory::device}));
    const bool cache_target = kind == access_type::execute || data_in_tlb;
    if (cache_target && to.plain && m_pmp.uniform(to.physical & ~page_mask) && (!excluded || !excluded(page))) {
        auto& set = m_sets[static_cast<unsigned>(view_of(mode))];
        auto& entry = set.of(kind)[tlb_set::index(address)];
        if (entry.tag == tlb_entry::empty) note_filled(entry, kind);
        entry = {page, reinterpret_cast<std::uint64_t>(to.host) - address};
    } else if (!known) {
        keep_translation(address, to, kind, mode);
    }
    return to;
}

memory_target mmu::look(std::uint64_t address, unsigned size, access_type kind) {
    memory_target to;
    bool writable = false;
    if (m_state.data_mode() != privilege::machine || (address & page_mask) + size > sparse_memory::page_size ||
        !m_pmp.allows(address, size, kind, privilege::machine) || !locate(address, to, writable) ||
        (kind == access_type::write && !writable))
        return {};
    to.physical = address;
    const auto marks = to.memory->marks(to.offset >> sparse_memory::page_bits);
    to.place = marks & sparse_memory::device ? memory_target::where::bus : memory_target::where::direct;
    to.plain = !(marks & (sparse_memory::decoded | sparse_memory::reserved | sparse_memory::faulty));
    return to;
}

memory_target mmu::resolve_for_debugger(std::uint64_t address) {
    memory_target to;
    const auto t = translate(address, access_type::read, m_state.data_mode(), true);
    if (!t.ok) {
        to.fault = t.fault;
        return to;
    }
    to.physical = t.physical;
    bool writable = false;
    to.place = locate(t.physical, to, writable) ? memory_target::where::direct : memory_target::where::bus;
    to.plain = writable;
    return to;
}

/// Entries that flush_page() dropped stay in the list; it is made anew when they are too many.
void mmu::note_filled(tlb_entry& entry, access_type kind) {
    constexpr std::size_t all = static_cast<std::size_t>(memory_view::count) * 3 * tlb_set::entries;
    if (m_filled.size() >= all) {
        m_filled.clear();
        for (auto& set : m_sets)
            for (const auto part : {access_type::read, access_type::write, access_type::execute})
                for (auto& e : set.of(part))
                    if (e.tag != tlb_entry::empty) m_filled.push_back({&e, part});
    }
    m_filled.push_back({&entry, kind});
}

void mmu::flush() {
    for (const auto& filled : m_filled) *filled.entry = {};
    m_filled.clear();
    for (std::size_t group = 0; group < translation_groups; ++group) {
        if (!m_group_used[group]) continue;
        std::fill_n(m_translations.begin() + group * tlb_set::entries, tlb_set::entries, cached_translation{});
        m_group_used[group] = false;
    }
    m_superpages = false;
}

bool mmu::flush_page(std::uint64_t address) {
    if (m_superpages) {
        flush();
        return false;
    }
    for (auto& set : m_sets) set.flush_page(address);
    for (auto i = tlb_set::index(address); i < m_translations.size(); i += tlb_set::entries) m_translations[i] = {};
    return true;
}

void mmu::page_marked(sparse_memory& memory, std::uint64_t page, unsigned mark) {
    if (!data_in_tlb && !(mark & sparse_memory::faulty)) return;
    const auto host = reinterpret_cast<std::uint64_t>(memory.data()) + (page << sparse_memory::page_bits);
    for (std::size_t i = 0; i < m_filled.size();) {
        const auto [entry, kind] = m_filled[i];
        const bool ends = kind == access_type::write || mark & sparse_memory::faulty ||
                          (kind == access_type::read && (mark & sparse_memory::device));
        if (entry->tag != tlb_entry::empty && !(ends && entry->tag + entry->addend == host)) {
            ++i;
            continue;
        }
        *entry = {};
        m_filled[i] = m_filled.back();  // so that the list has what is in use, page by page
        m_filled.pop_back();
    }
}

}  // namespace fabricvp::riscv
