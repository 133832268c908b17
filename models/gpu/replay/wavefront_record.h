// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <unordered_map>
#include <vector>

#include "gpu/lanes/wavefront_observer.h"
#include "gpu/replay/recording.h"

namespace fabricvp::gpu::replay {

class recorder;
class wavefront_record;

/// An access of a wavefront that is being recorded; it lives until the access is done.
class access_record {
public:
    wavefront_record& owner;
    /// A transaction of it waits, or waited, for a walk that read other GPUs' memory.
    void add_walk_dependency(unsigned transaction_index, walk_id walk);
    /// A transaction of it waits for a request to another GPU, its own or one that it shares.
    void add_dependency(unsigned transaction_index, transaction_id what);
    /// Its data are in registers, its bytes are where they belong, at `ready`.
    void done(ticks ready);

private:
    friend class wavefront_record;
    access_record(wavefront_record& owner) : owner(owner) {}
    std::vector<unsigned> m_transaction_indices;  // by entry of item.needs
    std::uint32_t m_ordinal = 0;
    ticks m_issued = 0;
    bool m_row = false, m_code = false;
    struct pending_item* m_item = nullptr;
};

struct pending_item : item {
    bool final = true;
    std::uint32_t ordinal = 0;  ///< access
    std::uint64_t held = 0;     ///< access: cycles in which the memory unit did not take it
};

/// What one wavefront does, while it lives. Its compute unit says what happens; times are cut into items.
class wavefront_record final : public wavefront_observer {
public:
    wavefront_record(recorder& r, std::uint32_t launch, std::uint32_t group, std::uint32_t wavefront, ticks cycle,
                     ticks start);

    // Time that the SIMD unit worked for it, or that it waited for the unit: neither depends on memory.
    void worked(ticks spent) override {
        m_busy += spent - std::min(spent, m_accounted);
        m_accounted = 0;
    }
    void queued(ticks spent) override { m_queued += spent; }
    /// It was woken at `data`, when all that it waited for was there, and comes to its SIMD unit now.
    void resumed(ticks data, ticks now) override { m_queued += now - std::min(now, std::max(data, m_at)); }

    /// Registers are used for the first time since accesses loaded them. \param worked of the running segment
    void uses(std::uint64_t rows, ticks at, ticks worked) override;
    /// What it used was not there: it goes on at `at`.
    void registers_available(ticks at) override;
    /// It waits for its loads, or for all of its accesses, from now on; and does not any more.
    void fence(bool everything, ticks at, ticks worked) override;
    void passed(ticks at) override;
    void arrived(ticks at) override;
    void released(ticks at) override { restart(at); }
    /// The memory unit does not take its access, since too many are under way.
    void issue_blocked(ticks at, ticks worked) override;
    void issued(vector_access& access, int row, ticks at, ticks worked) override;
    access_record* issue(int row, ticks at, ticks worked);
    void fetches(ticks at, ticks worked) override;
    void fetched(unsigned gpu, unsigned cache, std::uint64_t line, ticks at) override;
    void ended(ticks at, ticks worked) override;
    /// Everything of it is done, accesses inside of its GPU too: writes what is left. The object is deleted.
    void retired(ticks at) override;

private:
    friend class access_record;
    struct loaded {
        bool kept;
        ticks ready;
    };
    pending_item& add(item_kind kind, ticks at, ticks worked);
    void restart(ticks at);
    void flush_final_items();
    std::uint64_t cycles(ticks t) const { return (t + m_cycle / 2) / m_cycle; }

    recorder& m_recorder;
    const ticks m_cycle;
    stream m_stream;
    item_writer m_writer;
    std::deque<pending_item> m_items;                 // not written yet, since something before is not final
    ticks m_at;                                       // of the item before, or when it went on after that
    ticks m_busy = 0, m_queued = 0, m_accounted = 0;  // since then; m_taken: of the running segment, before that
    bool m_held = false;
    std::uint64_t m_held_busy = 0, m_held_idle = 0;
    std::uint64_t m_carried_busy = 0, m_carried_idle = 0;       // of items that were dropped
    std::array<std::vector<std::uint32_t>, 64> m_rows;          // accesses whose data have not been used
    std::uint64_t m_loading = 0;                                // rows that have some
    std::unordered_map<std::uint32_t, loaded> m_loaded;         // by ordinal: done, and not used yet
    std::unordered_map<std::uint32_t, std::uint32_t> m_number;  // by ordinal: among the accesses that are kept
    std::vector<std::uint32_t> m_waits_for;
    ticks m_data = 0;  // when those of them that are kept had come
    std::uint32_t m_next_ordinal = 0, m_kept = 0;
    access_record* m_code = nullptr;  // the fetch that it waits for
    ticks m_latest = 0;               // end of the latest access that is kept
};

}  // namespace fabricvp::gpu::replay
