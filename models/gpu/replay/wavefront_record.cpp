// SPDX-License-Identifier: Apache-2.0
#include "gpu/replay/wavefront_record.h"

#include <algorithm>
#include <utility>

#include "gpu/replay/recorder.h"

namespace fabricvp::gpu::replay {

void access_record::add_walk_dependency(unsigned transaction_index, walk_id walk) {
    m_item->dependencies.push_back({walk, 0});
    m_transaction_indices.push_back(transaction_index);
}

void access_record::add_dependency(unsigned transaction_index, transaction_id what) {
    const auto at = std::find(m_transaction_indices.begin(), m_transaction_indices.end(), transaction_index);
    if (at != m_transaction_indices.end()) {
        m_item->dependencies[static_cast<std::size_t>(at - m_transaction_indices.begin())].what = what;
        return;
    }
    m_item->dependencies.push_back({0, what});
    m_transaction_indices.push_back(transaction_index);
}

void access_record::done(ticks ready) {
    auto& i = *m_item;
    auto& w = owner;
    const bool kept = !i.dependencies.empty();
    if (kept) {
        // Where the last to come was of this GPU, that part takes its time whatever the fabric.
        const ticks slack =
            m_code
                ? 64
                : 16;  // cycles: from a line's arrival to registers or to the first instruction, in turns with others
        const auto last = w.m_recorder.last_response(i.dependencies);
        if (ready > last + slack * w.m_cycle) i.floor = w.cycles(ready - m_issued);
        w.m_latest = std::max(w.m_latest, ready);
    }
    if (m_row) {
        w.m_loaded[m_ordinal] = {kept, ready};
        if (kept && std::find(w.m_waits_for.begin(), w.m_waits_for.end(), m_ordinal) != w.m_waits_for.end())
            w.m_data = std::max(w.m_data, ready);
    }
    i.final = true;
    w.flush_final_items();
    delete this;
}

wavefront_record::wavefront_record(recorder& r, std::uint32_t launch, std::uint32_t group, std::uint32_t wavefront,
                                   ticks cycle, ticks start)
    : m_recorder(r), m_cycle(cycle), m_at(start) {
    m_stream.launch = launch;
    m_stream.group = group;
    m_stream.wavefront = wavefront;
}

pending_item& wavefront_record::add(item_kind kind, ticks at, ticks worked) {
    const ticks busy = m_busy + worked - std::min(worked, m_accounted);
    const ticks passed = at - std::min(at, m_at);
    m_items.emplace_back();
    auto& i = m_items.back();
    i.kind = kind;
    i.busy = cycles(busy);
    i.idle = cycles(passed - std::min(passed, busy + m_queued));
    m_at = std::max(m_at, at);
    m_busy = m_queued = 0;
    m_accounted = worked;
    return i;
}

/// Time until `at` has passed for others' sake.
void wavefront_record::restart(ticks at) {
    m_at = std::max(m_at, at);
    m_busy = m_queued = 0;
}

void wavefront_record::uses(std::uint64_t rows, ticks at, ticks worked) {
    rows &= m_loading;
    if (!rows) return;
    m_loading &= ~rows;
    auto& i = add(item_kind::wait, at, worked);
    m_waits_for.clear();
    for (; rows; rows &= rows - 1) {
        auto& accesses = m_rows[static_cast<unsigned>(__builtin_ctzll(rows))];
        m_waits_for.insert(m_waits_for.end(), accesses.begin(), accesses.end());
        accesses.clear();
    }
    std::sort(m_waits_for.begin(), m_waits_for.end());
    i.accesses = m_waits_for;
    m_data = 0;
    for (const auto ordinal : m_waits_for)
        if (const auto l = m_loaded.find(ordinal); l != m_loaded.end() && l->second.kept)
            m_data = std::max(m_data, l->second.ready);
    flush_final_items();
}

void wavefront_record::registers_available(ticks at) {
    m_waits_for.clear();
    if (m_data > m_at) restart(std::min(at, m_data));
}

void wavefront_record::fence(bool everything, ticks at, ticks worked) {
    add(everything ? item_kind::everything : item_kind::loads, at, worked);
}

void wavefront_record::passed(ticks at) {
    if (m_latest > m_at) restart(std::min(at, m_latest));
}

void wavefront_record::arrived(ticks at) { add(item_kind::barrier, at, 0); }

void wavefront_record::issue_blocked(ticks at, ticks worked) {
    auto& i = add(item_kind::end, at, worked);
    m_held_busy = i.busy;
    m_held_idle = i.idle;
    m_items.pop_back();
    m_held = true;
}

void wavefront_record::issued(vector_access& access, int row, ticks at, ticks worked) {
    access.observer_context = issue(row, at, worked);
}

access_record* wavefront_record::issue(int row, ticks at, ticks worked) {
    auto& i = add(item_kind::access, at, m_held ? 0 : worked);
    if (m_held) {
        i.held = i.idle;
        i.busy = m_held_busy;
        i.idle = m_held_idle;
        m_held = false;
        m_accounted = 0;
    }
    i.final = false;
    i.ordinal = m_next_ordinal++;
    i.loads = row >= 0;
    auto* a = new access_record(*this);
    a->m_item = &i;
    a->m_ordinal = i.ordinal;
    a->m_issued = at;
    a->m_row = row > 0 && row < 64;
    if (a->m_row) {
        m_rows[static_cast<unsigned>(row)].push_back(i.ordinal);
        m_loading |= std::uint64_t{1} << row;
    }
    return a;
}

void wavefront_record::fetches(ticks at, ticks worked) {
    m_code = issue(0, at, worked);
    m_code->m_code = m_code->m_row = true;
    auto& i = add(item_kind::wait, at, worked);
    i.accesses = m_waits_for = {m_code->m_ordinal};
    m_data = 0;
}

void wavefront_record::fetched(unsigned gpu, unsigned cache, std::uint64_t line, ticks at) {
    const auto what = m_recorder.fetched(gpu, cache, line, this, at);
    if (!m_code) return;
    if (what) m_code->add_dependency(0, what);
    std::exchange(m_code, nullptr)->done(at);
    registers_available(at);
}

void wavefront_record::ended(ticks at, ticks worked) { fence(true, at, worked); }

void wavefront_record::retired(ticks at) {
    passed(at);
    add(item_kind::end, at, 0);
    flush_final_items();
    m_stream.items = std::move(m_writer.bytes());
    m_recorder.retired(m_stream, at);
    delete this;
}

/// Writes what is final, and drops what concerns no other wavefront.
void wavefront_record::flush_final_items() {
    while (!m_items.empty() && m_items.front().final) {
        auto& i = m_items.front();
        bool kept = true;
        if (i.kind == item_kind::access) {
            kept = !i.dependencies.empty();
            if (kept) m_number[i.ordinal] = m_kept++;
        } else if (i.kind == item_kind::wait) {
            const bool waiting =
                std::any_of(i.accesses.begin(), i.accesses.end(), [&](auto o) { return !m_loaded.count(o); });
            if (waiting) return;
            std::vector<std::uint32_t> distances;
            for (const auto o : i.accesses) {
                m_loaded.erase(o);
                const auto n = m_number.find(o);
                if (n == m_number.end()) continue;
                distances.push_back(m_kept - n->second);
                m_number.erase(n);
            }
            i.accesses = std::move(distances);
            kept = !i.accesses.empty();
        } else if (i.kind == item_kind::loads || i.kind == item_kind::everything) {
            kept = m_kept > 0;
        }
        i.busy += m_carried_busy;
        i.idle += m_carried_idle;
        m_carried_busy = kept ? 0 : i.busy;
        // The player holds up accesses that it plays; what others were held up is this GPU's own time.
        m_carried_idle = kept ? 0 : i.idle + i.held;
        if (kept) m_writer.write(i);
        m_items.pop_front();
    }
}

}  // namespace fabricvp::gpu::replay
