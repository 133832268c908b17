// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/address_map.h"
#include "riscv/hart_state.h"
#include "riscv/pmp.h"
#include "riscv/tlb.h"

namespace fabricvp::riscv {

/// Where an access goes.
struct memory_target {
    enum class where : std::uint8_t { direct, bus, fault };
    where place = where::fault;
    cause fault = cause::load_access;
    bool plain = false;  ///< direct, and no mark asks for the slow path
    std::uint64_t physical = 0;
    std::uint8_t* host = nullptr;  ///< direct memory only (also for pages marked `device`, which go by the bus)
    sparse_memory* memory = nullptr;
    std::uint64_t offset = 0;  ///< inside `memory`
};

/// Sv39 and Sv48 translation, protection, and the software TLBs over direct memory.
class mmu {
public:
    /// \param self identifies this hart as writer of page-table entries
    mmu(hart_state& state, pmp& protection, const direct_memory_map& memory, memory_observer& self);
    ~mmu();

    /// Resolves an access that does not cross a page, and fills the TLB where later ones may go directly.
    memory_target resolve(std::uint64_t address, unsigned size, access_type kind);
    /// The same, by the TLB if it can tell: then only `place`, `plain` and `host` of the result are set.
    memory_target resolve_cached(std::uint64_t address, unsigned size, access_type kind) {
        memory_target to;
        to.host = cached(address, kind);
        if (!to.host) return resolve(address, size, kind);
        to.place = memory_target::where::direct;
        to.plain = true;
        return to;
    }
    /// Where the TLB says that data lies, or null.
    std::uint8_t* cached(std::uint64_t address, access_type kind) {
        const auto& entry = data_view().of(kind)[tlb_set::index(address)];
        return entry.tag == (address & ~std::uint64_t{0xfff}) ? reinterpret_cast<std::uint8_t*>(address + entry.addend)
                                                              : nullptr;
    }
    /// Where the bytes of a naturally aligned access lie that resolve() would find in memory and let pass, if that
    /// needs no look at tables, protection and the address map; `physical` is their address. Null where it would not,
    /// where that is not known, and for pages whose marks ask for more. Watchpoints are the caller's.
    std::uint8_t* known(std::uint64_t address, unsigned size, access_type kind, std::uint64_t& physical) {
        const auto& entry = translation_slot(address, kind, m_state.data_mode());
        if (entry.tag != (address & (~std::uint64_t{0xfff} | (size - 1))) || !entry.memory) return nullptr;
        const auto in_page = address & 0xfff;
        const auto marks = entry.memory->marks(entry.offset >> sparse_memory::page_bits);
        constexpr unsigned slow_reads = sparse_memory::device | sparse_memory::faulty;
        if (marks & (kind == access_type::write ? ~0u : slow_reads)) return nullptr;
        physical = entry.physical | in_page;
        return entry.memory->data() + (entry.offset | in_page);
    }
    /// Where an access of machine mode goes, with no effect on anything; `fault` also for what is not memory and other
    /// modes. `plain`: watched pages too.
    memory_target look(std::uint64_t address, unsigned size, access_type kind);
    /// The memory that holds a host address, or null.
    sparse_memory* memory_of(const std::uint8_t* host) const;
    /// resolve() for a debugger: no permission checks beyond validity, no A and D updates, no TLB fill.
    memory_target resolve_for_debugger(std::uint64_t address);

    /// What loads and stores see now.
    tlb_set& data_view() { return m_sets[static_cast<unsigned>(view_of(m_state.data_mode()))]; }
    tlb_set& fetch_view() { return m_sets[static_cast<unsigned>(view_of(m_state.mode))]; }

    void flush();
    /// sfence.vma with an address. \returns false if everything was flushed because of superpages
    bool flush_page(std::uint64_t address);
    void page_marked(sparse_memory& memory, std::uint64_t page, unsigned mark);

    /// True if `page` (virtual) is to be kept out of the TLBs; set while watchpoints exist.
    std::function<bool(std::uint64_t page)> excluded;

    /// False: no load or store goes by a TLB. To be followed by flush().
    bool data_in_tlb = true;

    /// Page-table entries read since the last call.
    unsigned take_walk_reads() {
        const auto n = m_walk_reads;
        m_walk_reads = 0;
        return n;
    }

private:
    struct translation {
        bool ok = false;
        cause fault = cause::load_page;
        std::uint64_t physical = 0;
    };

    /// Of a page of data. `memory` is null but where the page is memory that such accesses may reach, all of it.
    struct cached_translation {
        std::uint64_t tag = tlb_entry::empty;
        std::uint64_t physical = 0;
        sparse_memory* memory = nullptr;
        std::uint64_t offset = 0;  // of the page inside `memory`
    };
    static constexpr std::size_t translation_groups = static_cast<std::size_t>(memory_view::count) * 2;

    static cause page_fault(access_type kind);
    static cause access_fault(access_type kind);
    memory_view view_of(privilege mode) const {
        switch (mode) {
            case privilege::user: return memory_view::user;
            case privilege::supervisor:
                return m_state.mstatus & status::sum ? memory_view::supervisor_with_user : memory_view::supervisor;
            default: return memory_view::machine;
        }
    }
    translation translate(std::uint64_t address, access_type kind, privilege mode, bool debug);
    std::size_t translation_group(access_type kind, privilege mode) const {
        return static_cast<std::size_t>(view_of(mode)) * 2 + (kind == access_type::write ? 1 : 0);
    }
    cached_translation& translation_slot(std::uint64_t address, access_type kind, privilege mode) {
        return m_translations[translation_group(kind, mode) * tlb_set::entries + tlb_set::index(address)];
    }
    void keep_translation(std::uint64_t address, const memory_target& to, access_type kind, privilege mode);
    translation walk(std::uint64_t address, access_type kind, privilege mode, bool debug, unsigned levels);
    bool permitted(std::uint64_t entry, access_type kind, privilege mode) const;
    void note_filled(tlb_entry& entry, access_type kind);
    /// \returns false if `physical` is not direct memory
    bool locate(std::uint64_t physical, memory_target& to, bool& writable);

    hart_state& m_state;
    pmp& m_pmp;
    const direct_memory_map& m_memory;
    memory_observer& m_self;
    std::vector<sparse_memory*> m_attached;
    std::array<tlb_set, static_cast<unsigned>(memory_view::count)> m_sets;
    /// Translations of data for accesses that the TLB may not hold (marked or watched pages, devices, timed memory).
    std::array<cached_translation, translation_groups * tlb_set::entries> m_translations;
    std::array<bool, translation_groups> m_group_used{};
    struct located_range {
        std::uint64_t base = 0, size = 0, offset = 0;
        sparse_memory* memory = nullptr;
        bool writable = false;
    };
    located_range m_last;  // what locate() found last
    struct filled_entry {
        tlb_entry* entry;
        access_type kind;
    };
    std::vector<filled_entry> m_filled;  // since the last flush
    bool m_superpages = false;           // some entry came from one
    unsigned m_walk_reads = 0;
};

}  // namespace fabricvp::riscv
