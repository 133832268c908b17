// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/compute_unit.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "base/adjacent_bits.h"
#include "base/invalid_parameter.h"
#include "base/trace.h"
#include "gpu/lanes/simd_unit.h"

namespace fabricvp::gpu {

void register_file_params::describe(parameter_visitor& v) {
    v.field("size", size, between{0, 1 << 30}, "of all SIMD units of a compute unit; 0: registers limit nothing");
    v.field("parts", parts, between{1, 64}, "equal parts of it, in one of which all registers of a wavefront lie");
    v.field("granularity", granularity, between{1, 256}, "32-bit registers of a lane that are allocated together");
    v.field(
        "ecc", ecc,
        "a register has a code that corrects one wrong bit and detects two (SECDED); a lane that uses the latter ends "
        "with the fault `poisoned`. It takes no time: no figure is published");
}

void compute_unit_params::describe(parameter_visitor& v) {
    v.field("simd_units", simd_units, between{1, 8}, "SIMD units; how many lanes they have shows in `issue`");
    v.field("wavefront_slots", wavefront_slots, between{1, 16}, "wavefronts that a SIMD unit holds");
    v.field(
        "wavefronts", wavefronts, between{0, 64},
        "wavefronts that the compute unit holds, where slots do not spread evenly over its SIMD units; 0: all slots");
    v.field("slot_lanes", slot_lanes, between{32, 64},
            "lanes of a wavefront that takes one slot, as the GPU that this stands for has them: 64, or 32, where a "
            "wavefront of 64 lanes takes two");
    if (slot_lanes != 32 && slot_lanes != 64)
        reject(v, {"slot_lanes", fmt::format("slot_lanes is {}: give 32 or 64", slot_lanes)});
    if (slots() > 64)
        reject(v, {"wavefront_slots", fmt::format("{} SIMD units with {} wavefront_slots each are {} slots: a compute "
                                                  "unit has at most 64",
                                                  simd_units, wavefront_slots, slots())});
    if (slots() < slots_of(wavefront_lanes))
        reject(v, {"wavefront_slots", "a compute unit needs two slots of 32 lanes for a wavefront of 64"});
    v.field("quantum", quantum, between{1, 4096},
            "instructions a wavefront executes before another of its SIMD unit gets its turn");
    v.field("outstanding_accesses", outstanding_accesses, between{1, 1024},
            "memory instructions of a wavefront under way");
    v.field("divergence_quantum", divergence_quantum, between{1, 1 << 20},
            "backward branches of others after which diverged lanes get a turn, in whatever order the code is");
    v.field("runaway_limit", runaway_limit, between{0, 1e18}, "instructions after which a wavefront faults; 0: never");
    v.group(
        "issue", issue,
        "cycles an instruction of 64 lanes occupies its SIMD unit (of 32 lanes: half, rounded up), and so the least "
        "from one instruction of a wavefront to its next");
    v.group("result_latency", result_latency,
            "cycles from an instruction to the next one that needs its result, where that is longer (0: it is not). "
            "Other instructions and other wavefronts issue meanwhile");
    v.field("wavefront_interval", wavefront_interval, between{0, 4096},
            "least cycles from one instruction of a wavefront to its next; less than the instruction occupies its SIMD "
            "unit (0): so long");
    v.field(
        "shared_decoder", shared_decoder,
        "SIMD units share one decoder, which keeps an instruction until its SIMD unit takes it, and turns to another "
        "one only when no wavefront of the present one is ready: SIMD units with several ready wavefronts hold up "
        "others, as in MGPUSim. Otherwise each issues on its own");
    v.group("register_file", register_file, "registers, which limit how many wavefronts a compute unit holds");
    v.group("lds", lds, "local data share");
}

const char* describe(wavefront_state s) {
    static const char* const names[] = {"free",  "ready", "run",     "memory", "queue",
                                        "fetch", "fence", "barrier", "drain",  "start"};
    return names[static_cast<unsigned>(s)];
}

compute_unit::compute_unit(const sc_core::sc_module_name& name, const compute_unit_params& p,
                           const compute_unit_wiring& to)
    : model(name),
      params(p),
      lds("lds", p.lds, to.clock),
      simd_busy(*this, "simd_busy", "ps", "time SIMD units were busy, summed over them", p.simd_units),
      m_clock(to.clock),
      m_period_fs(1'000'000'000'000'000 / to.clock.rate().hertz),
      m_gpu(to.gpu),
      m_index(to.index),
      m_memory(to.memory),
      m_code(to.code),
      m_listener(to.listener),
      m_engine(p.issue, p.result_latency, to.operations, p.wavefront_interval),
      m_free_slots(static_cast<unsigned>(p.slots())),
      m_free_registers(p.register_file.size) {
    if (m_free_slots > 64) throw std::invalid_argument("a compute unit has at most 64 wavefront slots");
    flip.defaults.slots = m_free_slots;
    for (unsigned s = 0; s < p.simd_units; ++s) m_simds.push_back(std::make_unique<simd_unit>(*this));
    for (unsigned slot = 0; slot < m_free_slots; ++slot) {
        // Neighbours of a work-group go to different SIMD units.
        const auto simd = static_cast<unsigned>(slot % p.simd_units);
        m_wavefronts.push_back(std::make_unique<wavefront>(fmt::format("wavefront{}", slot).c_str(), slot, simd,
                                                           static_cast<unsigned>(m_simds[simd]->members.size())));
        m_simds[simd]->members.push_back(m_wavefronts.back().get());
    }
}

compute_unit::~compute_unit() {
    for (auto& w : m_wavefronts) delete w->context.storage;
}

/// Changes state; the time in the old one is counted.
/// Whether its instruction has been counted, and the program counter is behind it.
static bool waits_behind(wavefront_state s) {
    return s == wavefront_state::queue || s == wavefront_state::fence || s == wavefront_state::barrier ||
           s == wavefront_state::draining;
}

void compute_unit::tell_probe(wavefront& w, wavefront_state next) {
    m_probe->leaves(w, w.probed_pc, now());
    const auto& c = w.context;
    w.probed_pc = waits_behind(next) || !c.schedule.active ? c.op_pc : c.schedule.pc;
}

void compute_unit::enter(wavefront& w, wavefront_state s) {
    const ticks spent = now() - w.since;
    switch (w.state) {
        case wavefront_state::ready: stall_simd += spent; break;
        case wavefront_state::memory: stall_memory += spent; break;
        case wavefront_state::queue: stall_queue += spent; break;
        case wavefront_state::fetch: stall_fetch += spent; break;
        case wavefront_state::fence: stall_fence += spent; break;
        case wavefront_state::barrier: stall_barrier += spent; break;
        default: break;
    }
    if (w.observer) {
        if (w.state == wavefront_state::running)
            w.observer->worked(std::min(spent, w.busy_for));
        else if (w.state == wavefront_state::ready)
            w.observer->queued(spent);
    }
    if (trace::on() && w.state != wavefront_state::free && spent) trace::slice(w, describe(w.state), w.since, now());
    if (m_probe) tell_probe(w, s);
    w.state = s;
    w.since = now();
    auto& unit = *m_simds[w.simd];
    const auto bit = std::uint32_t{1} << w.position;
    unit.ready = s == wavefront_state::ready ? unit.ready | bit : unit.ready & ~bit;
    unit.asleep &= ~bit;
}

/// The wavefront can run from `at` on.
void compute_unit::make_ready(wavefront& w, ticks at) {
    auto& s = *m_simds[w.simd];
    if (at <= now()) {
        if (w.state != wavefront_state::ready) enter(w, wavefront_state::ready);
    } else {
        w.wakes_at = s.wakes[w.position] = at;
        s.asleep |= std::uint32_t{1} << w.position;
    }
    if (!s.running && (!s.event.scheduled() || s.event.when() > at)) schedule(s.event, std::max(at, now()));
}

/// Positions of wavefronts that can run. \param wake becomes when the next of the others can, if nothing happens before
std::uint32_t compute_unit::candidates_of(const simd_unit& s, ticks at, ticks& wake) {
    auto candidates = s.ready;
    wake = never;
    for (auto left = s.asleep; left; left &= left - 1) {
        const auto position = static_cast<unsigned>(__builtin_ctz(left));
        if (s.wakes[position] <= at)
            candidates |= left & -left;
        else
            wake = std::min(wake, s.wakes[position]);
    }
    return candidates;
}

/// Who comes behind the one that ran last.
static unsigned next_of(std::uint32_t candidates, unsigned last) {
    const auto behind = candidates & ~std::uint32_t{1} << last;
    return static_cast<unsigned>(__builtin_ctz(behind ? behind : candidates));
}

static void fetch_row(const lane_registers& registers, unsigned number) {
    const auto* const row = reinterpret_cast<const char*>(registers.r[number].data());
    for (std::size_t at = 0; at < sizeof(lane_registers::row); at += 64) __builtin_prefetch(row + at, 1);
}

/// Wavefronts have long left the host's caches when it is their turn: what the next one needs comes while the last one
/// is dealt with.
void compute_unit::expect_next(const simd_unit& s) const {
    ticks wake;
    if (s.running && s.stop == lane_stop::memory) {  // whose addresses and data go out now
        fetch_row(*s.registers[s.running->position], s.operands[0]);
        if (s.operands[1]) fetch_row(*s.registers[s.running->position], s.operands[1]);
    }
    const auto candidates = candidates_of(s, now(), wake);
    if (!candidates) return;
    const auto position = next_of(candidates, s.last);
    const auto* const w = reinterpret_cast<const char*>(s.members[position]);
    for (std::size_t at = 64; at < 640; at += 64) __builtin_prefetch(w + at, 1);
    for (auto rows = s.rows[position]; rows; rows &= rows - 1) fetch_row(*s.registers[position], lowest(rows));
}

/// Whether the shared decoder keeps the SIMD unit from starting a segment; if so, it tries again later.
bool compute_unit::decoder_taken(simd_unit& s) {
    if (m_decodes_for == &s || now() >= m_decoder_until) return false;
    schedule(s.event, m_decoder_until);
    return true;
}

/// While a SIMD unit executes an instruction, the decoder holds the next one of another ready wavefront of it. With
/// three ready, the arbiter comes to no other SIMD unit at all. With two, it does while both are in the pipeline: two
/// instructions leave the decoder in the time after which a wavefront is ready again.
void compute_unit::hold_decoder(const simd_unit& s, unsigned ready, ticks busy) {
    const auto interval = params.issue.alu, round = std::max(params.wavefront_interval, interval);
    m_decodes_for = &s;
    m_decoder_until = now() + (ready > 2 ? busy : ready == 2 ? busy * round / (2 * interval) : 0);
}

void compute_unit::run_next(simd_unit& s) {
    ticks wake;
    auto candidates = candidates_of(s, now(), wake);
    if (params.shared_decoder && candidates && decoder_taken(s)) return;
    const auto ready = static_cast<unsigned>(__builtin_popcount(candidates));
    while (candidates) {
        const auto position = next_of(candidates, s.last);
        auto& w = *s.members[position];
        if (w.state == wavefront_state::memory) {
            registers_ready(w, now());
            if (w.observer) w.observer->resumed(w.wakes_at, now());
            enter(w, wavefront_state::ready);
        } else if (w.state == wavefront_state::starting) {
            enter(w, wavefront_state::ready);
        }
        if (!m_watcher || !m_watcher->holds(w)) {
            s.last = position;
            run_segment(s, w);
            if (params.shared_decoder) hold_decoder(s, ready, w.busy_for);
            return;
        }
        candidates &= ~(std::uint32_t{1} << position);
    }
    if (wake != never) schedule(s.event, wake);
}

void compute_unit::run_segment(simd_unit& s, wavefront& w) {
    auto& c = w.context;
    enter(w, wavefront_state::running);
    w.wakes_at = never;
    if (m_engine.waits_for_results(c))
        c.first_cycle += c.cycles + ((now() - w.issued_until) * 1000 + m_period_fs / 2) / m_period_fs;
    c.cycles = c.busy = 0;
    c.clock_time = now();
    const auto before = c.instructions, lanes_before = c.lane_instructions;
    const auto quantum = c.instructions + params.quantum;
    for (;;) {
        const auto left = quantum > c.instructions ? quantum - c.instructions : 0;
        const auto limit = static_cast<unsigned>(w.tolerated ? std::min<std::uint64_t>(left, 1) : left);
        const auto executed = c.instructions;
        s.stop = m_watcher ? run_watched(w, limit) : m_engine.run(c, m_code, limit);
        if (w.tolerated && c.instructions != executed) {
            c.pending |= std::exchange(w.tolerated, 0);
            if (s.stop == lane_stop::budget && left > 1 && !m_watcher) continue;
        }
        const ticks at = now() + span(c.cycles);
        if (s.stop == lane_stop::memory && !c.op.orders() && access_local(w, at) == local_access::done) continue;
        if (s.stop == lane_stop::scoreboard && w.observer) w.observer->uses(c.pending & c.op.touches, at, span(c.busy));
        if (s.stop == lane_stop::scoreboard && registers_ready(w, at)) continue;
        if (m_watcher && s.stop == lane_stop::budget && quantum > c.instructions && !m_watcher->holds(w)) continue;
        break;
    }
    wavefront_instructions += c.instructions - before;
    if (w.group->run->executed_at == never && c.instructions != before) w.group->run->executed_at = now();
    lane_instructions += c.lane_instructions - lanes_before;
    const ticks duration = span(std::max<std::uint64_t>(c.busy, 1));
    w.busy_for = duration;
    w.issued_until = now() + span(c.cycles);
    if (c.cycles > c.busy) stall_result += w.issued_until - now() - duration;
    simd_busy.book(w.simd, now(), now() + duration);
    s.registers[w.position] = &c.storage->registers;
    s.rows[w.position] = c.ahead;
    s.operands = {c.op.rs1, c.op.memory.kind == access_kind::read ? std::uint8_t{0} : c.op.rs2};
    s.running = &w;
    schedule_in(s.event, duration);
}

/// Instructions one by one, where the watcher wants to see each.
lane_stop compute_unit::run_watched(wavefront& w, unsigned max_instructions) {
    auto& c = w.context;
    if (max_instructions == 0 || m_watcher->holds(w)) return lane_stop::budget;
    if (!m_watcher->wants_each(w)) return m_engine.run(c, m_code, max_instructions);
    if (c.schedule.active && m_watcher->stops_before(w)) return lane_stop::budget;
    const auto before = c.instructions;
    const auto lanes = c.schedule.active;
    const auto stop = m_engine.run(c, m_code, 1);
    if (c.instructions != before) m_watcher->executed(w, lanes);
    return stop;
}

void compute_unit::wake(unsigned slot) {
    auto& s = *m_simds[m_wavefronts[slot]->simd];
    if (!s.running && !s.event.scheduled()) schedule(s.event, now());
}

/// At the time at which the segment ends: what stopped it begins.
void compute_unit::end_segment(wavefront& w, lane_stop why) {
    auto& c = w.context;
    if (w.killed) return drain(w);
    if (c.schedule.live() != w.started_lanes) w.group->lane_ended = true;
    if (params.runaway_limit && c.instructions > params.runaway_limit) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(c.schedule.live() | lane_mask{1} << 63));
        return fault(w, lane_fault::runaway, memory_fault::none, lane, c.schedule.pc_of(lane), c.schedule.pc_of(lane));
    }
    switch (why) {
        case lane_stop::budget: enter(w, wavefront_state::ready); break;
        case lane_stop::fetch: {
            const auto line = lane_engine::code_line(c, c.schedule.pc);
            if (m_code.find(c.address_space, line)) {  // it has come meanwhile
                enter(w, wavefront_state::ready);
                break;
            }
            if (w.observer) w.observer->fetches(now(), worked(w));
            enter(w, wavefront_state::fetch);
            m_code.request(c.address_space, line, *this);
            break;
        }
        case lane_stop::scoreboard:
            if (!(w.poisoned & c.op.touches) || pass_poison(w)) wait_for_registers(w);
            break;
        case lane_stop::memory: c.op.release ? begin_release(w) : begin_issue(w); break;
        case lane_stop::fence: begin_fence(w); break;
        case lane_stop::barrier:
            w.at_barrier = true;
            w.waits_for_stores = true;
            w.acquires = w.flushes_system = false;
            if (w.observer) w.observer->fence(true, now(), worked(w));
            enter(w, wavefront_state::fence);
            continue_fence(w);
            break;
        case lane_stop::ended: drain(w); break;
        case lane_stop::fault: {
            const auto lane = static_cast<unsigned>(__builtin_ctzll(c.op_lanes));
            fault(w, c.fault, memory_fault::none, lane, c.op_pc, c.fault_value);
            break;
        }
    }
    if (m_watcher) m_watcher->state_changed(w);
}

/// Hands the instruction to memory, behind others that wait for a place there.
void compute_unit::begin_issue(wavefront& w) {
    w.to_issue = w.context.op_lanes;
    const bool waits = !m_queue.empty() && !m_memory.can_issue() && !w.blocked_by_lds;
    end_issue(w, waits ? issued::blocked : issue(w));
}

/// An atomic with rl: what a fence waits for comes first.
void compute_unit::begin_release(wavefront& w) {
    w.at_barrier = w.acquires = false;
    w.waits_for_stores = w.flushes_system = w.issues_behind = true;
    if (w.observer) w.observer->fence(true, now(), worked(w));
    enter(w, wavefront_state::fence);
    continue_fence(w);
}

/// An atomic with aq has been issued: when it has ended, caches are emptied.
void compute_unit::begin_acquire(wavefront& w) {
    w.at_barrier = w.waits_for_stores = w.flushes_system = false;
    w.acquires = true;
    if (w.observer) w.observer->fence(false, now(), worked(w));
    enter(w, wavefront_state::fence);
    continue_fence(w);
}

void compute_unit::begin_fence(wavefront& w) {
    const auto& o = w.context.op;
    const auto immediate = static_cast<std::uint32_t>(o.immediate);
    const bool plain = o.op == riscv::opcode::fence;
    const unsigned scope = plain ? GPU_SCOPE_SYSTEM : immediate & 3;
    const bool wide = scope != GPU_SCOPE_WORK_GROUP;
    w.at_barrier = false;
    w.waits_for_stores = (wide || m_memory.passes_stores()) && (plain || (immediate & GPU_FENCE_RELEASE));
    w.flushes_system = w.waits_for_stores && scope == GPU_SCOPE_SYSTEM;
    w.acquires = wide && (plain || (immediate & GPU_FENCE_ACQUIRE));
    if (w.observer) w.observer->fence(w.waits_for_stores, now(), worked(w));
    enter(w, wavefront_state::fence);
    continue_fence(w);
}

/// A fence waits for all loads of the wavefront and for its accesses of the LDS; a release beyond the work-group, whose
/// members share an L1 cache, and a barrier for all stores too. So does one within the work-group where there are other
/// GPUs: on the way to them another member's load may overtake a store. A release of system scope then waits for what
/// flushes its writes to the host, which counts as a load.
void compute_unit::continue_fence(wavefront& w) {
    const auto loads = w.accesses - w.stores;
    if (loads != 0 || (w.waits_for_stores && w.stores != 0) || !lds_drained(w)) return;
    if (std::exchange(w.flushes_system, false) && !m_memory.flush_system(*this, w.slot)) {
        ++w.accesses;
        return;
    }
    if (w.acquires) m_memory.invalidate();
    if (w.observer) w.observer->passed(now());
    if (w.at_barrier)
        arrive(w);
    else if (std::exchange(w.issues_behind, false))
        begin_issue(w);
    else
        make_ready(w, now());
}

void compute_unit::system_flushed(std::uint64_t slot) {
    auto& w = *m_wavefronts[slot];
    --w.accesses;
    if (w.state == wavefront_state::fence)
        continue_fence(w);
    else if (w.state == wavefront_state::draining && w.accesses == 0 && lds_drained(w))
        retire(w);
    if (m_watcher) m_watcher->state_changed(w);
}

void compute_unit::fetched(std::uint32_t address_space, std::uint64_t line, memory_fault why) {
    for (auto& slot : m_wavefronts) {
        auto& w = *slot;
        if (w.state != wavefront_state::fetch || w.context.address_space != address_space) continue;
        const auto pc = w.context.schedule.pc;
        if (lane_engine::code_line(w.context, pc) != line) continue;
        if (why == memory_fault::none) {
            if (w.observer) w.observer->fetched(m_gpu, m_code.number, line, now());
            make_ready(w, now());
        } else {
            const auto lane = static_cast<unsigned>(__builtin_ctzll(w.context.schedule.active));
            fault(w, lane_fault::memory, why, lane, pc, pc);
        }
    }
}

void compute_unit::flip_arguments::describe(parameter_visitor& v) {
    v.field("slot", slot, between{0, static_cast<double>(slots - 1)}, "wavefront slot");
    v.field("lane", lane, between{0, wavefront_lanes - 1}, "lane of the wavefront");
    v.field("row", row, between{1, 63}, "register: 1 to 31 are x1 to x31, 32 to 63 are f0 to f31");
    v.field("bit", bit, between{0, 63}, "first bit that flips");
    v.field("bits", bits, between{1, 2}, "how many flip, one beside the other in the register");
}

void compute_unit::flip_register(const flip_arguments& a) {
    const auto slot = static_cast<unsigned>(a.slot), lane = static_cast<unsigned>(a.lane),
               row = static_cast<unsigned>(a.row);
    auto& w = *m_wavefronts[slot];
    if (w.state == wavefront_state::free || w.state == wavefront_state::starting || !w.context.storage) return;
    if (!params.register_file.ecc) {
        write_register(slot, lane, row, read_register(slot, lane, row) ^ adjacent_bits(a.bit, a.bits));
    } else if (a.bits == 1) {
        ++corrected_errors;
    } else if (!(w.context.pending & row_bit(row))) {  // else a load overwrites it
        w.poisoned |= row_bit(row);
        w.poisoned_lane[row] = static_cast<std::uint8_t>(lane);
        w.context.pending |= row_bit(row);  // so that the wavefront stops where it is used
    }
}

/// An instruction names registers with wrong bits. It faults if one of its lanes reads them. A lane that writes them
/// makes them good, and those of other lanes stay as they are. \returns whether the wavefront lives
bool compute_unit::pass_poison(wavefront& w) {
    auto& c = w.context;
    const auto& o = c.op;
    const auto sources = row_bit(o.rs1) | row_bit(o.rs2) | row_bit(o.rs3);
    for (auto left = w.poisoned & o.touches; left; left &= left - 1) {
        const auto row = lowest(left);
        const bool active = c.schedule.active >> w.poisoned_lane[row] & 1;
        if (active && sources & row_bit(row)) {
            ++uncorrected_errors;
            fault(w, lane_fault::memory, memory_fault::poisoned, w.poisoned_lane[row], c.op_pc, 0);
            return false;
        }
        if (loading(w, row)) continue;
        c.pending &= ~row_bit(row);
        (active ? w.poisoned : w.tolerated) ^= row_bit(row);
    }
    return true;
}

std::uint64_t compute_unit::read_register(unsigned slot, unsigned lane, unsigned row) const {
    return m_wavefronts[slot]->context.storage->registers.r[row][lane];
}

void compute_unit::write_register(unsigned slot, unsigned lane, unsigned row, std::uint64_t value) {
    if (row == 0) return;
    auto& c = m_wavefronts[slot]->context;
    c.storage->registers.r[row][lane] = value;
    c.touched |= std::uint64_t{1} << row;
}

bool compute_unit::write_pc(unsigned slot, unsigned lane, std::uint64_t pc) {
    auto& w = *m_wavefronts[slot];
    const bool between_instructions =
        w.state == wavefront_state::ready || w.state == wavefront_state::memory || w.state == wavefront_state::fetch;
    if (!between_instructions || w.to_issue || w.killed || !w.context.schedule.redirect(lane, pc)) return false;
    if (w.state == wavefront_state::fetch) make_ready(w, now());  // the line that it waits for may be of no use now
    return true;
}

}  // namespace fabricvp::gpu
