// SPDX-License-Identifier: Apache-2.0
// Memory instructions of wavefronts: apertures, accesses under way, the scoreboard.
#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/lanes/compute_unit.h"
#include "gpu/lanes/simd_unit.h"

namespace fabricvp::gpu {

namespace {

/// Fixed apertures by number (address / 256 MiB); all of global memory is one.
constexpr unsigned global_aperture = GPU_GLOBAL_BASE >> 28;
constexpr unsigned aperture(std::uint64_t address) {
    return address >= GPU_GLOBAL_BASE ? global_aperture : static_cast<unsigned>(address >> 28);
}
constexpr unsigned code_aperture = aperture(GPU_CODE_BASE), lds_aperture = aperture(GPU_LDS_BASE),
                   scratch_aperture = aperture(GPU_SCRATCH_BASE), kernarg_aperture = aperture(GPU_KERNARG_BASE);

bool reads_only(const lane_op& o) { return o.memory.kind == access_kind::read; }

/// Lanes whose addresses are not in [base, base + size).
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
lane_mask
outside(const std::uint64_t* address, std::uint64_t base, std::uint64_t size) {
    static constexpr auto bits = [] {
        std::array<lane_mask, wavefront_lanes> all{};
        for (unsigned i = 0; i < wavefront_lanes; ++i) all[i] = row_bit(i);
        return all;
    }();
    lane_mask lanes = 0;
    for (unsigned i = 0; i < wavefront_lanes; ++i) lanes |= address[i] - base >= size ? bits[i] : 0;
    return lanes;
}

constexpr std::uint64_t offset_in(const lane_op& o) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(o.immediate));
}

}  // namespace

bool compute_unit::lds_full(wavefront& w, ticks at) {
    w.blocked_by_lds = lds.full(at) || (!m_lds_queue.empty() && !m_serving_lds);
    return w.blocked_by_lds;
}

/// The destination of an instruction that the LDS has performed can be used at `ready`.
void compute_unit::await_local(wavefront& w, ticks ready) {
    auto& c = w.context;
    const auto rd = c.op.rd;
    if (rd == lane_registers::sink) return;
    // Other lanes of the instruction may have loads under way.
    w.loaded_at[rd] = c.pending & row_bit(rd) ? std::max(w.loaded_at[rd], ready) : ready;
    c.pending |= row_bit(rd);
    if (w.loads[rd] == 0) w.timed |= row_bit(rd);
}

/// Lanes exchange values through the crossbar of the LDS, as DS_BPERMUTE_B32 of GCN does (GCN3 instruction set, 12.13).
compute_unit::local_access compute_unit::shuffle(wavefront& w, ticks at) {
    if (lds_full(w, at)) return local_access::full;
    auto& c = w.context;
    const auto& o = c.op;
    auto& r = c.storage->registers.r;
    alignas(64) lane_registers::row data;
    m_engine.operations().shuffle(data, r[o.rs1], r[o.rs2], c.op_lanes);
    const bool of = o.op == riscv::opcode::lane_shuffle_w_of || o.op == riscv::opcode::lane_shuffle_d_of;
    for (lane_mask left = of && c.schedule.has_exchanges() ? c.op_lanes : 0; left; left &= left - 1) {
        const auto lane = lowest(left);
        const auto from = static_cast<std::uint32_t>(r[o.rs2][lane]);
        const auto* const e = c.schedule.exchange_of(lane);
        if (e && from < wavefront_lanes && (e->lanes & ~c.op_lanes) >> from & 1) data[lane] = e->values[from];
    }
    m_engine.operations().write_back(r[o.rd], data, o.format, c.op_lanes);
    const auto ready = lds.shuffle(c.op_lanes, o.memory.size, at);
    w.lds_until = lds.idle_at();
    await_local(w, ready);
    return local_access::done;
}

/// Performs a memory instruction inside the running segment if all its lanes mean local memory, whose queue has a
/// place.
compute_unit::local_access compute_unit::access_local(wavefront& w, ticks at) {
    auto& c = w.context;
    const auto& o = c.op;
    if (o.kind == lane_kind::shuffle) return shuffle(w, at);
    auto& r = c.storage->registers.r;
    const std::uint64_t size = w.group->lds.bytes.size();
    // Most accesses mean memory, and all lanes alike.
    if (r[o.rs1][lowest(c.op_lanes)] + offset_in(o) - GPU_LDS_BASE >= size) return local_access::elsewhere;
    alignas(64) lane_registers::row address;
    const auto range = m_engine.operations().addresses(address, r[o.rs1], offset_in(o), c.op_lanes);
    if (range.min < GPU_LDS_BASE || range.max - GPU_LDS_BASE >= size ||
        o.memory.size > size - (range.max - GPU_LDS_BASE) || (range.bits & (o.memory.size - 1u)))
        return local_access::elsewhere;
    if (lds_full(w, at)) return local_access::full;
    for (auto& a : address) a -= GPU_LDS_BASE;
    alignas(64) lane_registers::row data;
    if (!reads_only(o)) data = r[o.rs2];
    const auto ready = lds.access(w.group->lds, o, c.op_lanes, address, data, w.slot, at);
    w.lds_until = lds.idle_at();
    if (o.memory.kind == access_kind::write) return local_access::done;
    m_engine.operations().write_back(r[o.rd], data, o.format, c.op_lanes);
    await_local(w, ready);
    return local_access::done;
}

/// Turns lanes' addresses into what the memory system gets to see; on a fault they stay, and `lane` is whose.
memory_fault compute_unit::rebase(const wavefront& w, vector_access& a, lane_mask mask, unsigned& lane) const {
    auto& address = a.address;
    const auto& what = w.group->run->what;
    const auto first = lowest(mask);
    lane = first;
    const auto shift = [&](std::uint64_t base, std::uint64_t size, std::uint64_t aperture_size, std::uint64_t to) {
        if (const auto wrong = outside(address.data(), base, size) & mask) {
            lane = lowest(wrong);
            return address[lane] - base < aperture_size ? memory_fault::unmapped : memory_fault::bad_aperture;
        }
        for (auto& each : address) each += to - base;
        return memory_fault::none;
    };
    switch (aperture(address[first])) {
        case global_aperture: return memory_fault::none;
        case code_aperture:
        case kernarg_aperture:
            if (a.kind != access_kind::read) return memory_fault::read_only;
            a.constant = true;
            return aperture(address[first]) == code_aperture
                       ? shift(GPU_CODE_BASE, GPU_CODE_SIZE, GPU_CODE_SIZE, what.image)
                       : shift(GPU_KERNARG_BASE, GPU_KERNARG_SIZE, GPU_KERNARG_SIZE, what.kernarg);
        case scratch_aperture: {
            a.scratch = true;
            if (const auto f = shift(GPU_SCRATCH_BASE, what.scratch_bytes, GPU_SCRATCH_SIZE, 0);
                f != memory_fault::none)
                return f;
            const auto lanes = what.lanes();
            for (unsigned i = 0; i < lanes; ++i)
                address[i] = w.scratch + ((address[i] / 8) * lanes + i) * 8 + address[i] % 8;
            return memory_fault::none;
        }
        case lds_aperture: {  // all inside would not have come here
            for (lane_mask left = mask; left; left &= left - 1)
                if (address[lowest(left)] - GPU_LDS_BASE + a.size > w.group->lds.bytes.size()) {
                    lane = lowest(left);
                    break;
                }
            return address[lane] - GPU_LDS_BASE < GPU_LDS_SIZE ? memory_fault::unmapped : memory_fault::bad_aperture;
        }
        default: return memory_fault::bad_aperture;
    }
}

/// Hands lanes in `to_issue` to memory; lanes that mean different apertures take an access for each.
compute_unit::issued compute_unit::issue(wavefront& w) {
    auto& c = w.context;
    const auto o = c.op;
    if (o.kind == lane_kind::shuffle) {
        if (shuffle(w, now()) == local_access::full) return issued::blocked_by_lds;
        w.to_issue = 0;
    }
    auto& r = c.storage->registers.r;
    while (w.to_issue) {
        if (!m_memory.can_issue() || w.accesses >= params.outstanding_accesses) return issued::blocked;
        lane_mask mask = w.to_issue;
        const auto access = m_memory.make_access();
        auto& a = *access;
        const auto& address = a.address;
        const auto range = m_engine.operations().addresses(a.address, r[o.rs1], offset_in(o), mask);
        if (aperture(range.min) != aperture(range.max)) {
            for (lane_mask left = mask; left; left &= left - 1)
                if (aperture(address[lowest(left)]) != aperture(range.min)) mask &= ~row_bit(lowest(left));
        }
        if (range.bits & (o.memory.size - 1u)) {
            for (lane_mask left = w.to_issue; left; left &= left - 1)
                if (const auto lane = lowest(left); address[lane] & (o.memory.size - 1u)) {
                    fault(w, lane_fault::memory, memory_fault::misaligned, lane, c.op_pc, address[lane]);
                    return issued::faulted;
                }
        }
        if (aperture(range.min) == lds_aperture) {
            const auto all = c.op_lanes;
            c.op_lanes = mask;
            const auto how = access_local(w, now());
            c.op_lanes = all;
            if (how == local_access::full) return issued::blocked_by_lds;
            if (how == local_access::done) {
                w.to_issue &= ~mask;
                continue;
            }
        }
        a.set_operation(o.memory);
        a.mask = mask;
        a.address_space = c.address_space;
        a.pc = c.op_pc;
        a.client = this;
        a.wavefront = w.slot;
        a.cookie = o.rd | static_cast<std::uint32_t>(o.format) << 8;
        a.issued = now();
        unsigned lane = 0;
        if (const auto f = rebase(w, a, mask, lane); f != memory_fault::none) {
            fault(w, lane_fault::memory, f, lane, c.op_pc, address[lane]);
            return issued::faulted;
        }
        if (!reads_only(o)) a.data = r[o.rs2];
        w.to_issue &= ~mask;
        ++w.accesses;
        if (o.memory.kind == access_kind::write) {
            ++w.stores;
        } else if (o.rd != lane_registers::sink) {
            if (!(c.pending & row_bit(o.rd))) w.loaded_at[o.rd] = 0;
            c.pending |= row_bit(o.rd);
            w.timed &= ~row_bit(o.rd);
            ++w.loads[o.rd];
        }
        ++memory_instructions;
        if (w.observer) {
            const int row = o.memory.kind == access_kind::write ? -1 : o.rd == lane_registers::sink ? 0 : o.rd;
            w.observer->issued(a, row, now(), worked(w));
        }
        m_memory.issue(access);
        if (w.killed) return issued::faulted;
    }
    return issued::all;
}

void compute_unit::end_issue(wavefront& w, issued how) {
    if (how == issued::all) {
        w.context.op.acquire ? begin_acquire(w) : make_ready(w, now());
    } else if (how == issued::blocked && w.state != wavefront_state::queue) {
        if (w.observer) w.observer->issue_blocked(now(), worked(w));
        enter(w, wavefront_state::queue);
        m_queue.push_back(w.slot);
    } else if (how == issued::blocked_by_lds) {
        wait_for_lds(w);
    }
}

void compute_unit::wait_for_lds(wavefront& w) {
    if (w.state != wavefront_state::queue) enter(w, wavefront_state::queue);
    m_lds_queue.push_back(w.slot);
    if (const auto at = std::max(lds.place_at(), now()); !m_lds_event.scheduled() || m_lds_event.when() > at)
        schedule(m_lds_event, at);
}

/// Whether all of the wavefront's accesses of the LDS have been performed. If not, lds_served() comes back to it.
bool compute_unit::lds_drained(wavefront& w) {
    if (w.lds_until <= now()) return true;
    m_lds_drains |= std::uint64_t{1} << w.slot;
    if (!m_lds_event.scheduled() || m_lds_event.when() > w.lds_until) schedule(m_lds_event, w.lds_until);
    return false;
}

void compute_unit::lds_served() {
    auto next = never;
    for (auto left = std::exchange(m_lds_drains, 0); left; left &= left - 1) {
        auto& w = *m_wavefronts[lowest(left)];
        if (w.lds_until > now()) {
            m_lds_drains |= left & -left;
            next = std::min(next, w.lds_until);
        } else if (w.state == wavefront_state::fence) {
            continue_fence(w);
            if (m_watcher) m_watcher->state_changed(w);
        } else if (w.state == wavefront_state::draining && w.accesses == 0) {
            retire(w);
        }
    }
    serve_lds_queue();
    if (!m_lds_queue.empty()) next = std::min(next, lds.place_at());
    if (next != never && (!m_lds_event.scheduled() || m_lds_event.when() > next)) schedule(m_lds_event, next);
}

void compute_unit::serve_lds_queue() {
    while (!m_lds_queue.empty() && !lds.full(now())) {
        auto& w = *m_wavefronts[m_lds_queue.front()];
        m_serving_lds = true;
        const auto how = issue(w);
        m_serving_lds = false;
        if (how == issued::faulted) continue;  // wavefronts were killed, and left the queue
        if (how == issued::blocked_by_lds) return;
        m_lds_queue.erase(m_lds_queue.begin());
        if (how == issued::all)
            make_ready(w, now());
        else
            m_queue.push_back(w.slot);
        if (m_watcher) m_watcher->state_changed(w);
    }
}

void compute_unit::space_available() {
    if (m_serving) return;  // an access that the loop below issued has ended at once; the loop goes on
    m_serving = true;
    for (std::size_t i = 0; i < m_queue.size() && m_memory.can_issue();) {
        auto& w = *m_wavefronts[m_queue[i]];
        const auto how = issue(w);
        if (how == issued::blocked) {
            ++i;
            continue;
        }
        if (how == issued::all || how == issued::blocked_by_lds) {
            m_queue.erase(m_queue.begin() + static_cast<std::ptrdiff_t>(i));
            end_issue(w, how);
            if (m_watcher) m_watcher->state_changed(w);
        } else {
            i = 0;  // wavefronts were killed, and left the queue
        }
    }
    m_serving = false;
}

void compute_unit::access_done(vector_access& a, ticks ready) {
    auto& w = *m_wavefronts[a.wavefront];
    auto& c = w.context;
    const unsigned rd = a.cookie & 0xff;
    --w.accesses;
    if (a.kind == access_kind::write) --w.stores;
    if (a.fault != memory_fault::none && !w.killed) {
        const auto lane = a.faulted ? lowest(a.faulted) : lowest(a.mask);
        auto address = a.address[lane];
        if (a.scratch) address = GPU_SCRATCH_BASE + (address - w.scratch) / 8 / w.group->run->lanes() * 8 + address % 8;
        const bool ended = w.state == wavefront_state::draining;  // its last stores are still its own
        fault(w, lane_fault::memory, a.fault, lane, a.pc, address);
        if (ended && w.accesses == 0 && lds_drained(w)) retire(w);
        return;
    }
    if (w.state == wavefront_state::draining) {
        if (w.accesses == 0 && lds_drained(w)) retire(w);
        return;
    }
    if (a.kind != access_kind::write) {
        m_engine.operations().write_back(c.storage->registers.r[rd], a.data, static_cast<load_format>(a.cookie >> 8),
                                         a.mask);
        if (rd != lane_registers::sink) load_landed(w, rd, ready);
    }
    if (w.state == wavefront_state::fence)
        continue_fence(w);
    else if (w.state == wavefront_state::queue && w.to_issue && w.accesses + 1 == params.outstanding_accesses)
        space_available();
    if (m_watcher && w.state != wavefront_state::running) m_watcher->state_changed(w);
}

void compute_unit::load_landed(wavefront& w, unsigned row, ticks ready) {
    auto& c = w.context;
    w.loaded_at[row] = std::max(w.loaded_at[row], ready);
    if (--w.loads[row] != 0) return;
    w.timed |= row_bit(row);
    if (w.state == wavefront_state::memory && w.wakes_at == never && (c.pending & c.op.touches & row_bit(row)))
        wait_for_registers(w);
}

/// Rows whose time has come can be used. \returns whether the instruction at which the wavefront stopped can run
bool compute_unit::registers_ready(wavefront& w, ticks at) {
    auto& c = w.context;
    // An observer sees the first use of each row.
    for (auto left = w.observer ? w.timed & c.op.touches : w.timed; left; left &= left - 1) {
        const auto row = lowest(left);
        if (w.loaded_at[row] > at) continue;
        w.timed &= ~row_bit(row);
        c.pending &= ~row_bit(row) | w.poisoned;
    }
    return (c.pending & c.op.touches) == 0;
}

void compute_unit::wait_for_registers(wavefront& w) {
    auto& c = w.context;
    if (w.state != wavefront_state::memory) enter(w, wavefront_state::memory);
    w.wakes_at = never;
    m_simds[w.simd]->asleep &= ~(std::uint32_t{1} << w.position);
    auto needed = c.pending & c.op.touches;
    for (auto left = needed & w.poisoned; left; left &= left - 1)
        if (!loading(w, lowest(left))) needed &= ~row_bit(lowest(left));
    if (needed & ~w.timed) return;  // load_landed() comes back
    ticks at = now();
    for (auto left = needed; left; left &= left - 1) at = std::max(at, w.loaded_at[lowest(left)]);
    registers_ready(w, at <= now() ? now() : 0);
    if (w.observer) w.observer->registers_available(at);
    make_ready(w, at);
}

}  // namespace fabricvp::gpu
