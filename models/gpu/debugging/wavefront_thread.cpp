// SPDX-License-Identifier: Apache-2.0
#include "gpu/debugging/wavefront_thread.h"

#include <fmt/format.h>

namespace fabricvp::gpu {

using riscv::stop_reason;

namespace {

constexpr unsigned register_pc = 32, register_f0 = 33, register_csr0 = 65, further_registers = register_csr0 + 4096 + 1;

constexpr const char* further_names[] = {"lane",    "lanes_active", "lanes_live",   "wavefront",
                                         "group_x", "group_y",      "group_z",      "local_x",
                                         "local_y", "local_z",      "compute_unit", "gpu"};

/// The simulator's name of the GPU, "node0.gpu0" of "node0.gpu0.compute_unit3".
std::string gpu_name(const compute_unit& unit) {
    const auto* gpu = unit.get_parent_object();
    return gpu ? gpu->name() : unit.name();
}

}  // namespace

wavefront_thread::wavefront_thread(compute_unit& unit, unsigned slot, wavefront_watcher& watcher,
                                   lane_breakpoints& breakpoints, wavefront_memory& memory)
    : m_unit(unit), m_slot(slot), m_watcher(watcher), m_breakpoints(breakpoints), m_memory(memory) {}

std::string wavefront_thread::debug_name() const {
    return fmt::format("{} cu{} wavefront {}", gpu_name(m_unit), m_unit.index(), m_slot);
}

std::string wavefront_thread::debug_state() const {
    if (!alive()) return "none";
    const auto& id = identity();
    const auto where =
        fmt::format("{} group {},{},{} lane {}", m_kernel, id.group_id[0], id.group_id[1], id.group_id[2], m_lane);
    return where + ", " + (m_snapshot ? m_snapshot->end : describe(slot().state));
}

void wavefront_thread::set_debug_listener(riscv::debug_listener* listener) {
    m_listener = listener;
    m_unit.watch(listener ? &m_watcher : nullptr);
    m_due = stop_reason::none;
    m_snapshot.reset();
    if (!now_alive()) return;
    m_kernel = m_memory.name_of(slot().group->run->what);
    show_next();
}

// What the compute unit asks and says.

bool wavefront_thread::stops_before() {
    const auto pc = slot().context.schedule.pc;
    if (pc == m_skip || !m_breakpoints.at(pc) || !stops_at(pc)) return false;
    m_due = m_breakpoints.hardware.count(pc) ? stop_reason::hardware_breakpoint : stop_reason::breakpoint;
    m_due_address = pc;
    show_some(slot().context.schedule.active);
    return true;
}

void wavefront_thread::executed(lane_mask lanes) {
    m_skip = 0;
    if (!m_stepping || !(m_any_lane || lanes >> m_lane & 1)) return;
    m_due = stop_reason::step;
    m_due_address = 0;
}

/// A stop is reported when the registers are what the program has loaded.
void wavefront_thread::state_changed() {
    if (m_due == stop_reason::none || !now_alive()) return;
    const auto& w = slot();
    if (w.accesses > w.stores || w.to_issue || w.killed) return;
    const lane_mask live = w.context.schedule.live();
    if (live == 0) return;  // ending() comes
    if (!(live >> m_lane & 1)) show_next();
    report();
}

void wavefront_thread::report() {
    const auto reason = m_due;
    m_due = stop_reason::none;
    m_halted = true;
    m_stepping = false;
    if (m_listener) m_listener->stopped(*this, reason, m_due_address);
}

void wavefront_thread::started() {
    ++m_incarnation;
    m_snapshot.reset();
    m_stepping = false;
    m_due = stop_reason::none;
    m_skip = 0;
    m_lane = lowest(slot().started_lanes);
    m_kernel = m_memory.name_of(slot().group->run->what);
}

void wavefront_thread::ending() {
    if (m_snapshot || (m_due == stop_reason::none && !m_stepping)) return;
    if (m_due == stop_reason::none) m_due = stop_reason::step;
    take_snapshot(slot().killed ? "killed" : "has ended");
    report();
}

void wavefront_thread::faulted(const fault_record& record) {
    take_snapshot(record.kind == lane_fault::memory
                      ? fmt::format("fault: {}, address {:#x}", describe(record.memory), record.address)
                      : fmt::format("fault: {}", describe(record.kind)));
    m_lane = record.lane;
    m_snapshot->pc[m_lane] = record.pc;
    m_due = record.kind == lane_fault::memory ? stop_reason::bad_access : stop_reason::bad_instruction;
    m_due_address = record.address;
    report();
}

void wavefront_thread::take_snapshot(std::string end) {
    auto p = std::make_unique<snapshot>();
    const auto& w = slot();
    p->registers = w.context.storage->registers;
    for (unsigned i = 0; i < wavefront_lanes; ++i) p->pc[i] = pc_of(i);
    p->live = w.context.schedule.live() ? w.context.schedule.live() : w.started_lanes;
    if (!(p->live >> m_lane & 1)) m_lane = lowest(p->live);
    p->identity = w.context.identity;
    p->place = place();
    p->lds = w.group->lds.bytes;
    p->place.lds = nullptr;
    p->end = std::move(end);
    m_snapshot = std::move(p);
}

// What the debugger wants.

void wavefront_thread::halt() {
    m_halted = true;
    m_stepping = false;
    m_due = stop_reason::none;
    if (!m_snapshot && now_alive() && !(live_lanes() >> m_lane & 1)) show_next();
}

void wavefront_thread::resume() { continue_execution(false); }

void wavefront_thread::step() { continue_execution(true); }

void wavefront_thread::continue_execution(bool step) {
    const bool was_snapshot = m_snapshot != nullptr;
    if (was_snapshot) {
        m_snapshot.reset();
        if (!now_alive()) ++m_incarnation;
    }
    m_halted = false;
    m_due = stop_reason::none;
    m_stepping = step && !was_snapshot && now_alive();
    if (!now_alive()) return;
    const auto& s = slot().context.schedule;
    m_any_lane = (s.parked() | s.synced()) >> m_lane & 1;
    m_skip = s.active && m_breakpoints.at(s.pc) ? s.pc : 0;
    m_unit.wake(m_slot);
}

bool wavefront_thread::next_instruction(std::uint64_t& pc) {
    if (m_snapshot || !now_alive()) return false;
    const auto state = slot().state;
    if (state == wavefront_state::barrier || state == wavefront_state::draining || !slot().context.schedule.active)
        return false;
    pc = slot().context.schedule.pc;
    return true;
}

void wavefront_thread::show_next() {
    if (m_snapshot || !now_alive()) return;
    const auto& s = slot().context.schedule;
    show_some(s.active ? s.active : s.live());
}

void wavefront_thread::show_some(lane_mask lanes) {
    if (lanes && !(lanes >> m_lane & 1)) m_lane = lowest(lanes);
}

bool wavefront_thread::select_lane(unsigned lane) {
    if (!alive() || lane >= wavefront_lanes || !(live_lanes() >> lane & 1)) return false;
    m_lane = lane;
    return true;
}

/// Lanes that wait at a barrier or for others of their wavefront are shown there, not behind it.
std::uint64_t wavefront_thread::pc_of(unsigned lane) const {
    if (m_snapshot) return m_snapshot->pc[lane];
    const auto& s = slot().context.schedule;
    return s.pc_of(lane) - ((s.parked() | s.synced()) >> lane & 1 ? 4 : 0);
}

bool wavefront_thread::read_register(unsigned number, std::uint64_t& value) {
    if (!alive()) return false;
    if (number == register_pc) {
        value = pc_of(m_lane);
        return true;
    }
    if (number >= further_registers) return further(number - further_registers, value);
    if (number >= register_csr0) return false;
    const unsigned row = number < register_pc ? number : number - register_f0 + lane_registers::f0;
    if (!m_snapshot && slot().loads[row]) return false;  // not known yet
    const auto& r = m_snapshot ? m_snapshot->registers : slot().context.storage->registers;
    value = r.r[row][m_lane];
    return true;
}

bool wavefront_thread::write_register(unsigned number, std::uint64_t value) {
    if (m_snapshot || !now_alive() || number >= register_csr0) return false;
    if (number == register_pc)
        return value - GPU_CODE_BASE < GPU_CODE_SIZE && value % 4 == 0 && m_unit.write_pc(m_slot, m_lane, value);
    const unsigned row = number < register_pc ? number : number - register_f0 + lane_registers::f0;
    m_unit.write_register(m_slot, m_lane, row, value);
    return true;
}

const char* wavefront_thread::additional_register(unsigned n) const {
    return n < std::size(further_names) ? further_names[n] : nullptr;
}

bool wavefront_thread::further(unsigned n, std::uint64_t& value) const {
    const auto& id = identity();
    const auto flat = id.wavefront * id.lanes + m_lane;
    const auto width = id.local_size[0], height = id.local_size[1];
    switch (n) {
        case 0: value = m_lane; break;
        case 1: value = m_snapshot ? 0 : slot().context.schedule.active; break;
        case 2: value = m_snapshot ? m_snapshot->live : slot().context.schedule.live(); break;
        case 3: value = id.wavefront; break;
        case 4:
        case 5:
        case 6: value = id.group_id[n - 4]; break;
        case 7: value = flat % width; break;
        case 8: value = flat / width % height; break;
        case 9: value = flat / width / height; break;
        case 10: value = id.compute_unit; break;
        case 11: value = id.gpu; break;
        default: return false;
    }
    return true;
}

wavefront_place wavefront_thread::place() const {
    if (m_snapshot) {
        auto p = m_snapshot->place;
        p.lds = &m_snapshot->lds;
        return p;
    }
    const auto& w = slot();
    const auto& what = w.group->run->what;
    return {m_unit.index(), w.context.address_space, what.image,          what.kernarg,
            w.scratch,      what.scratch_bytes,      &w.group->lds.bytes, what.lanes()};
}

std::size_t wavefront_thread::read_memory(std::uint64_t address, void* to, std::size_t size) {
    return alive() ? m_memory.read(place(), m_lane, address, to, size) : 0;
}

std::size_t wavefront_thread::write_memory(std::uint64_t address, const void* from, std::size_t size) {
    return !m_snapshot && now_alive() ? m_memory.write(place(), m_lane, address, from, size) : 0;
}

void wavefront_thread::insert_breakpoint(std::uint64_t address, bool hardware) {
    if (address - GPU_CODE_BASE < GPU_CODE_SIZE)
        (hardware ? m_breakpoints.hardware : m_breakpoints.software).insert(address);
}

void wavefront_thread::remove_breakpoint(std::uint64_t address, bool hardware) {
    (hardware ? m_breakpoints.hardware : m_breakpoints.software).erase(address);
}

}  // namespace fabricvp::gpu
