// SPDX-License-Identifier: Apache-2.0
// Life and end of work-groups on a compute unit; barriers; faults.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "abi/kernel_descriptor.h"
#include "base/trace.h"
#include "gpu/lanes/compute_unit.h"
#include "gpu/lanes/simd_unit.h"

namespace fabricvp::gpu {

/// A compiler would not let a kernel have more registers than let a work-group run.
std::uint64_t compute_unit::register_bytes(const dispatch_run& run) const {
    const auto& file = params.register_file;
    const std::uint64_t registers = run.reconvergence ? run.reconvergence->registers() : 0;
    if (registers == 0 || file.size == 0) return 0;
    const auto allocated = (registers + file.granularity - 1) / file.granularity * file.granularity;
    const auto wavefronts = file.size / file.parts / (allocated * run.lanes() * 4) * file.parts;
    return file.size / std::max<std::uint64_t>(wavefronts, run.group_wavefronts);
}

std::uint64_t compute_unit::max_wavefronts(const dispatch_run& run) const {
    const auto each = register_bytes(run);
    const auto held = slot_wavefronts(run);
    return each ? std::min<std::uint64_t>(held, params.register_file.size / each) : held;
}

std::uint64_t compute_unit::max_groups(const dispatch_run& run) const {
    const auto groups = max_wavefronts(run) / run.group_wavefronts;
    return run.what.lds_bytes ? std::min<std::uint64_t>(groups, lds.params.size / run.what.lds_bytes) : groups;
}

bool compute_unit::fits(const dispatch_run& run, std::uint32_t group_wavefronts) const {
    return m_free_registers >= group_wavefronts * register_bytes(run) && fits_beside_registers(run, group_wavefronts);
}

bool compute_unit::lacks_registers(const dispatch_run& run, std::uint32_t group_wavefronts) const {
    return m_free_registers < group_wavefronts * register_bytes(run) && fits_beside_registers(run, group_wavefronts);
}

bool compute_unit::fits_beside_registers(const dispatch_run& run, std::uint32_t group_wavefronts) const {
    return m_free_slots >= group_wavefronts * params.slots_of(run.lanes()) && lds.free_bytes() >= run.what.lds_bytes &&
           (run.what.scratch_bytes == 0 || run.free_scratch->size() >= group_wavefronts);
}

void compute_unit::start(dispatch_run& run, const std::array<std::uint32_t, 3>& id, ticks wavefront_interval) {
    if (m_free_groups.empty()) m_free_groups.push_back(std::make_unique<work_group>());
    m_groups.push_back(std::move(m_free_groups.back()));
    m_free_groups.pop_back();
    auto& g = *m_groups.back();
    g.run = &run;
    g.id = id;
    g.wavefronts = 0;
    g.live = g.executing = g.arrived = 0;
    g.lane_ended = false;
    g.started = now();
    lds.allocate(g.lds, run.what.lds_bytes);
    m_busy.set(1);

    std::uint64_t items = 1;
    for (unsigned d = 0; d < 3; ++d) items *= std::min(run.what.group[d], run.what.grid[d] - id[d] * run.what.group[d]);
    const auto size = run.lanes();
    for (std::uint32_t number = 0; number * size < items; ++number) {
        const auto count = std::min<std::uint64_t>(items - number * size, size);
        const lane_mask lanes = ~lane_mask{0} >> (wavefront_lanes - count);
        // The SIMD unit with the fewest wavefronts takes it.
        auto& s = **std::min_element(m_simds.begin(), m_simds.end(),
                                     [](const auto& a, const auto& b) { return a->live < b->live; });
        const auto w = std::find_if(s.members.begin(), s.members.end(),
                                    [](const auto* m) { return m->state == wavefront_state::free; });
        start_wavefront(**w, g, number, lanes, now() + number * wavefront_interval);
    }
}

void compute_unit::start_wavefront(wavefront& w, work_group& g, std::uint32_t number, lane_mask lanes, ticks at) {
    const auto& what = g.run->what;
    auto& c = w.context;
    if (m_storage.empty()) m_storage.push_back(std::make_unique<lane_storage>());
    auto storage = m_storage.back().release();
    m_storage.pop_back();
    c = lane_context{};
    c.storage = storage;
    c.schedule.start(storage->groups, g.run->reconvergence.get(), what.entry, lanes,
                     static_cast<unsigned>(params.divergence_quantum));
    c.image = what.image;
    c.address_space = what.address_space;
    c.clock = &m_clock;
    auto& identity = c.identity;
    identity.group_id = g.id;
    identity.group_size = what.group;
    identity.grid_size = what.grid;
    for (unsigned d = 0; d < 3; ++d)
        identity.local_size[d] = std::min(what.group[d], what.grid[d] - g.id[d] * what.group[d]);
    identity.wavefront = number;
    identity.lanes = g.run->lanes();
    identity.gpu = m_gpu;
    identity.compute_unit = m_index;
    identity.dispatch = g.run->number;
    const auto fill = m_engine.operations().fill;
    auto& r = storage->registers.r;
    for (auto rows = storage->touched; rows; rows &= rows - 1) fill(r[static_cast<unsigned>(__builtin_ctzll(rows))], 0);
    fill(r[10], GPU_KERNARG_BASE);
    fill(r[2], GPU_SCRATCH_BASE + what.scratch_bytes);
    c.touched = 1u << 10 | 1u << 2;

    w.group = &g;
    w.started_lanes = lanes;
    w.scratch_area = 0;
    w.scratch = 0;
    if (what.scratch_bytes) {
        w.scratch_area = g.run->free_scratch->back();
        g.run->free_scratch->pop_back();
        w.scratch = what.scratch + std::uint64_t{w.scratch_area} * what.scratch_area_bytes();
    }
    if (m_engine.waits_for_results(c)) storage->result_at.fill(0);
    w.since = w.started = w.issued_until = now();
    ++residency;
    w.wakes_at = never;
    w.killed = w.at_barrier = w.acquires = w.waits_for_stores = false;
    w.issues_behind = w.blocked_by_lds = false;
    w.to_issue = 0;
    w.lds_until = 0;
    w.accesses = w.stores = 0;
    w.timed = w.poisoned = w.tolerated = 0;
    w.loads.fill(0);
    auto* const o = dispatch_observer::attached();
    w.observer = o ? o->started(m_gpu, *g.run, number, now()) : nullptr;
    g.wavefronts |= std::uint64_t{1} << w.slot;
    ++g.live;
    ++g.executing;
    m_free_slots -= static_cast<unsigned>(params.slots_of(what.lanes()));
    w.register_bytes = register_bytes(*g.run);
    m_free_registers -= w.register_bytes;
    ++m_simds[w.simd]->live;
    if (m_watcher) m_watcher->started(w);
    if (at > now()) enter(w, wavefront_state::starting);
    make_ready(w, at);
}

/// The wavefront has ended or was killed; its slot is free when its accesses have ended.
void compute_unit::drain(wavefront& w) {
    if (w.state == wavefront_state::draining || w.state == wavefront_state::free) return;
    m_queue.erase(std::remove(m_queue.begin(), m_queue.end(), w.slot), m_queue.end());
    m_lds_queue.erase(std::remove(m_lds_queue.begin(), m_lds_queue.end(), w.slot), m_lds_queue.end());
    if (w.observer) w.observer->ended(now(), worked(w));
    enter(w, wavefront_state::draining);
    w.to_issue = 0;
    auto& g = *w.group;
    if (--g.executing == g.arrived && g.arrived && !w.killed) complete_barrier(g);
    if (w.accesses == 0 && lds_drained(w)) retire(w);
}

void compute_unit::retire(wavefront& w) {
    auto& g = *w.group;
    if (m_watcher) m_watcher->ending(w);
    enter(w, wavefront_state::free);
    if (w.observer) std::exchange(w.observer, nullptr)->retired(now());
    if (trace::on())
        trace::slice(
            *this, fmt::format("group {},{},{} wavefront {}", g.id[0], g.id[1], g.id[2], w.context.identity.wavefront),
            w.started, now());
    ++wavefronts;
    --residency;
    recycle_storage(w);
    if (g.run->what.scratch_bytes) g.run->free_scratch->push_back(w.scratch_area);
    m_free_slots += static_cast<unsigned>(params.slots_of(g.run->lanes()));
    w.group = nullptr;
    m_free_registers += w.register_bytes;
    --m_simds[w.simd]->live;
    m_busy.set(m_free_slots < m_wavefronts.size());
    if (--g.live == 0) finish_group(g);
}

void compute_unit::recycle_storage(wavefront& w) {
    w.context.storage->touched = w.context.touched;
    m_storage.emplace_back(w.context.storage);
    w.context.storage = nullptr;
}

void compute_unit::finish_group(work_group& g) {
    auto& run = *g.run;
    ++work_groups;
    lds.release(g.lds);
    const auto at = std::find_if(m_groups.begin(), m_groups.end(), [&](const auto& p) { return p.get() == &g; });
    m_free_groups.push_back(std::move(*at));
    m_groups.erase(at);
    m_listener.group_finished(*this, run);
}

/// Lanes that have ended count as arrived, and so do wavefronts all of whose lanes have.
void compute_unit::arrive(wavefront& w) {
    auto& g = *w.group;
    if (w.observer) w.observer->arrived(now());
    enter(w, wavefront_state::barrier);
    if (++g.arrived == g.executing) complete_barrier(g);
}

void compute_unit::complete_barrier(work_group& g) {
    g.arrived = 0;
    const bool may_lack_lanes = g.run->what.flags & KERNEL_ENDED_LANES_ARRIVE;
    bool tell = g.lane_ended && !may_lack_lanes;
    for (auto slots = g.wavefronts; slots; slots &= slots - 1) {
        auto& w = *m_wavefronts[static_cast<unsigned>(__builtin_ctzll(slots))];
        if (w.group != &g || w.state != wavefront_state::barrier) continue;
        auto& schedule = w.context.schedule;
        if (std::exchange(tell, false)) {
            const auto lane = static_cast<unsigned>(__builtin_ctzll(schedule.parked()));
            m_listener.barrier_lacked_lanes(*g.run, schedule.pc_of(lane) - 4, g.id);
        }
        schedule.release();
        if (w.observer) w.observer->released(now());
        make_ready(w, now());
    }
}

void compute_unit::fault(wavefront& w, lane_fault kind, memory_fault memory, unsigned lane, std::uint64_t pc,
                         std::uint64_t address) {
    fault_record record;
    record.kind = kind;
    record.memory = memory;
    record.gpu = m_gpu;
    record.compute_unit = m_index;
    record.wavefront = w.slot;
    record.group_id = w.group->id;
    record.lane = lane;
    record.pc = pc;
    record.address = address;
    if (m_watcher && !w.group->run->aborted) m_watcher->faulted(w, record);
    m_listener.lane_faulted(*w.group->run, record);
}

/// Whether a segment's end will come back to it.
bool compute_unit::in_segment(const wavefront& w) const {
    const auto& s = *m_simds[w.simd];
    return s.running == &w || (s.ending >> w.position & 1);
}

void compute_unit::kill(const dispatch_run& run) {
    for (auto& slot : m_wavefronts) {
        auto& w = *slot;
        if (!w.group || w.group->run != &run || w.killed) continue;
        w.killed = true;
        if (!in_segment(w)) drain(w);
    }
}

void compute_unit::acquire() { m_memory.invalidate(); }

void compute_unit::reset() {
    for (auto& w : m_wavefronts) {
        if (w->context.storage) recycle_storage(*w);
        w->group = nullptr;
        w->state = wavefront_state::free;
        w->accesses = 0;
        w->observer = nullptr;
    }
    for (auto& s : m_simds) {
        s->running = nullptr;
        s->live = 0;
        s->last = 0;
        s->ready = s->asleep = s->ending = 0;
        cancel(s->event);
        cancel(s->results);
    }
    m_decodes_for = nullptr;
    m_decoder_until = 0;
    simd_busy.drop();
    residency.set(0);
    m_busy.set(0);
    for (auto& g : m_groups) m_free_groups.push_back(std::move(g));
    m_groups.clear();
    m_queue.clear();
    m_lds_queue.clear();
    m_lds_drains = 0;
    cancel(m_lds_event);
    m_free_slots = static_cast<unsigned>(m_wavefronts.size());
    m_free_registers = params.register_file.size;
    model::reset();
}

}  // namespace fabricvp::gpu
