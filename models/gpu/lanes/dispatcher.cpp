// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/dispatcher.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "abi/gpu.h"
#include "abi/kernel_descriptor.h"
#include "base/counted_warning.h"
#include "base/trace.h"

namespace fabricvp::gpu {

void dispatcher_params::describe(parameter_visitor& v) {
    v.field("queue_depth", queue_depth, between{1, 64}, "dispatches that can be under way or wait here");
    v.field("work_group_interval", work_group_interval, between{0, 10'000},
            "cycles from the start of a work-group to the next start, at least");
    v.field(
        "wavefront_interval", wavefront_interval, between{0, 10'000},
        "cycles from a wavefront's start to that of the next in its work-group. With 1 and a work_group_interval of 4 "
        "a work-group takes as long as in MGPUSim: 4 cycles, or as many as it has wavefronts (latencyTable of its "
        "dispatcher)");
}

dispatcher::dispatcher(const sc_core::sc_module_name& name, const dispatcher_params& p, const clock_domain& clock)
    : model(name), params(p), m_clock(clock) {}

const char* dispatcher::rejection_reason(const dispatch& what) const {
    constexpr std::uint64_t max_items = 1024;
    std::uint64_t items = 1;
    for (unsigned d = 0; d < 3; ++d) {
        if (what.grid[d] == 0) return "the grid is empty";
        if (what.group[d] == 0) return "the work-group is empty";
        if (what.group[d] > max_items) return "the work-group is too large";
        items *= what.group[d];
    }
    if (items > max_items) return "the work-group is too large";
    std::uint64_t all = 1;
    for (unsigned d = 0; d < 3; ++d) all *= (what.grid[d] - 1) / what.group[d] + 1;
    if (what.first_group >= all || what.groups > all - what.first_group) return "the part lies outside of the grid";
    if (what.chunk && (what.groups || what.period < what.chunk)) return "the part has a bad period";
    if (what.address_space >= GPU_ADDRESS_SPACES) return "there is no such address space";
    if (what.flags & ~std::uint32_t{KERNEL_FLAGS}) return "the kernel's descriptor has unknown flags";
    if (what.image % line_bytes) return "the kernel image is not aligned";
    if (what.entry - GPU_CODE_BASE >= GPU_CODE_SIZE || what.entry % 4) return "the entry lies outside of the code";
    if (what.scratch_bytes % 16 || what.scratch_bytes > GPU_SCRATCH_SIZE) return "scratch memory has a bad size";
    const auto wavefronts = (items + what.lanes() - 1) / what.lanes();
    if (what.scratch_bytes) {
        if (what.scratch % line_bytes) return "scratch memory is not aligned";
        if (what.scratch_size / what.scratch_area_bytes() < wavefronts)
            return "scratch memory is too small for a work-group";
    }
    for (const auto* u : m_units)
        if (u->slots() >= wavefronts * u->params.slots_of(what.lanes()) && u->params.lds.size >= what.lds_bytes)
            return nullptr;
    return "no compute unit has the resources for a work-group";
}

namespace {
/// Work-groups that run here, of a grid of `all`.
std::uint64_t part_of(const dispatch& what, std::uint64_t all) {
    if (!what.chunk) return what.groups ? what.groups : all - what.first_group;
    const auto rest = all - what.first_group;
    return rest / what.period * what.chunk + std::min<std::uint64_t>(rest % what.period, what.chunk);
}

std::uint64_t group_at(const dispatch& what, std::uint64_t i) {
    return what.first_group + (what.chunk ? i / what.chunk * what.period + i % what.chunk : i);
}
}  // namespace

/// Counts work-groups and their wavefronts.
void dispatcher::prepare(dispatch_run& run) const {
    const auto& what = run.what;
    run.group_count = 1;
    std::uint64_t items = 1;
    for (unsigned d = 0; d < 3; ++d) {
        run.groups[d] = (what.grid[d] - 1) / what.group[d] + 1;
        run.group_count *= run.groups[d];
        items *= what.group[d];
    }
    run.group_count = part_of(what, run.group_count);
    run.group_wavefronts = static_cast<std::uint32_t>((items + what.lanes() - 1) / what.lanes());
}

std::string dispatcher::oversubscription(const dispatch& what) {
    if (!(what.flags & KERNEL_COOPERATIVE)) return {};
    if (what.first_group || what.groups || what.chunk) return "a cooperative launch runs on one GPU";
    dispatch_run run;
    run.what = what;
    prepare(run);
    find_reconvergence(run);
    std::uint64_t held = 0;
    for (const auto* u : m_units) held += u->max_groups(run);
    if (what.scratch_bytes) held = std::min(held, what.scratch_size / what.scratch_area_bytes() / run.group_wavefronts);
    if (run.group_count <= held) return {};
    return fmt::format("a cooperative launch of {} work-groups, of which the GPU holds {} at a time", run.group_count,
                       held);
}

/// Cooperative dispatches run one at a time: they share what their work-groups meet at.
bool dispatcher::waits_for_cooperative(const dispatch_run& run) const {
    if (run.started || !(run.what.flags & KERNEL_COOPERATIVE)) return false;
    return std::any_of(m_runs.begin(), m_runs.end(), [](const auto& r) {
        return r->what.flags & KERNEL_COOPERATIVE && r->started && r->finished != r->started;
    });
}

std::uint64_t dispatcher::submit(const dispatch& what) {
    if (const char* why = rejection_reason(what)) throw std::invalid_argument(why);
    if (!can_submit()) throw std::logic_error("the dispatcher's queue is full");
    auto run = std::make_unique<dispatch_run>();
    run->what = what;
    run->number = ++m_number;
    run->queued_at = now();
    prepare(*run);
    if (auto* o = dispatch_observer::attached()) o->submitted(m_units.front()->gpu(), *run, now());
    m_runs.push_back(std::move(run));
    if (!m_place.scheduled()) schedule(m_place, std::max(now(), m_next_start));
    return m_number;
}

/// The first work-group is about to start: what caches hold may be older than what the dispatch must see.
void dispatcher::begin(dispatch_run& run) {
    run.started_at = now();
    if (run.what.acquire) acquire();
    find_reconvergence(run);
    if (run.reconvergence) {
        registers.add(run.reconvergence->registers());
        std::uint64_t slots = 0, held = 0;
        for (const auto* u : m_units) {
            slots += u->slot_wavefronts(run);
            held += u->max_wavefronts(run);
        }
        run.register_wavefronts = held < slots ? held : 0;
        if (held < slots) ++limited_by_registers;
    } else {
        ++unread_kernels;
    }
    if (m_activity) m_activity->started();
    for (const auto& listener : m_launch) listener(run);
}

/// The host, a copy engine or a kernel has written the code by now: lanes could not run it otherwise.
void dispatcher::find_reconvergence(dispatch_run& run) {
    const auto& what = run.what;
    const code_reader page = [&](std::uint32_t number, std::uint8_t* to) {
        constexpr std::uint64_t size = control_flow_graph::page_bytes;
        // An image need not begin where a page does.
        const auto at = what.image + number * size, rest = size - at % size;
        bool some = read_code(what.address_space, at, to, rest);
        if (!some) std::memset(to, 0, rest);
        if (rest == size) return some;
        if (read_code(what.address_space, at + rest, to + rest, size - rest)) return true;
        std::memset(to + rest, 0, size - rest);
        return some;
    };
    if (read_code) run.reconvergence = m_reconvergence.find(what.address_space, what.image, what.entry, page);
}

void dispatcher::acquire() {
    for (auto* c : m_code) c->invalidate();
    for (auto* u : m_units) u->acquire();
}

/// Finds areas for wavefronts. \returns false if others cut the same memory into areas of another size: these must end
/// first
bool dispatcher::allocate_scratch(dispatch_run& run) {
    const auto& what = run.what;
    if (!what.scratch_bytes || run.free_scratch) return true;
    for (const auto& other : m_runs) {
        const auto& o = other->what;
        const bool alive = other->free_scratch && !(placed(*other) && other->finished == other->started);
        if (!alive || o.address_space != what.address_space || o.scratch >= what.scratch + what.scratch_size ||
            what.scratch >= o.scratch + o.scratch_size)
            continue;
        if (o.scratch != what.scratch || o.scratch_size != what.scratch_size ||
            o.scratch_area_bytes() != what.scratch_area_bytes())
            return false;
        run.free_scratch = other->free_scratch;
        return true;
    }
    std::uint64_t slots = 0;
    for (const auto* u : m_units) slots += u->slots();
    const auto areas = std::min(slots, what.scratch_size / what.scratch_area_bytes());
    run.free_scratch = std::make_shared<std::vector<std::uint32_t>>();
    for (auto area = static_cast<std::uint32_t>(areas); area-- > 0;) run.free_scratch->push_back(area);
    return true;
}

void dispatcher::place() {
    const auto run = std::find_if(m_runs.begin(), m_runs.end(), [](const auto& r) { return !placed(*r); });
    if (run == m_runs.end() || m_stuck_since != never) return;  // release() comes back
    auto& r = **run;
    if (waits_for_cooperative(r)) return;
    if (!allocate_scratch(r)) return;  // group_finished() comes back
    if (r.started == 0 && !r.reconvergence) find_reconvergence(r);
    compute_unit* unit = nullptr;
    for (std::size_t i = 0; i < m_units.size() && !unit; ++i) {
        auto* candidate = m_units[(m_next_unit + i) % m_units.size()];
        if (!candidate->fits(r, r.group_wavefronts)) continue;
        unit = candidate;
        m_next_unit = (m_next_unit + i + 1) % m_units.size();
    }
    if (!unit) {  // group_finished() comes back
        const auto waits = [&](const compute_unit* u) { return u->lacks_registers(r, r.group_wavefronts); };
        if (r.waited_for_registers != r.started + 1 && std::any_of(m_units.begin(), m_units.end(), waits)) {
            r.waited_for_registers = r.started + 1;
            ++waits_for_registers;
        }
        return;
    }
    if (r.started == 0) begin(r);
    const auto n = group_at(r.what, r.started++);
    const std::array<std::uint32_t, 3> id{static_cast<std::uint32_t>(n % r.groups[0]),
                                          static_cast<std::uint32_t>(n / r.groups[0] % r.groups[1]),
                                          static_cast<std::uint32_t>(n / r.groups[0] / r.groups[1])};
    ++work_groups;
    unit->start(r, id, m_clock.span(params.wavefront_interval));
    m_next_start = now() + m_clock.span(params.interval(r.group_wavefronts));
    schedule(m_place, m_next_start);
}

void dispatcher::group_finished(compute_unit&, dispatch_run& run) {
    ++run.finished;
    if (placed(run) && run.finished == run.started && !m_complete.scheduled()) schedule(m_complete, now());
    if (!m_place.scheduled()) schedule(m_place, std::max(now(), m_next_start));
}

void dispatcher::barrier_lacked_lanes(dispatch_run& run, std::uint64_t pc,
                                      const std::array<std::uint32_t, 3>& group_id) {
    m_lacking_pc = pc;
    count_warning(ended_lane_barriers, *this,
                  "dispatch {}{}: lanes had ended before the barrier at pc {:#x}, which needs all of its work-group "
                  "({},{},{}); they count as arrived",
                  run.number, name_of ? fmt::format(" ({})", name_of(run.what)) : "", pc, group_id[0], group_id[1],
                  group_id[2]);
}

void dispatcher::lane_faulted(dispatch_run& run, const fault_record& record) {
    if (run.aborted) return;
    run.fault = record;
    count_warning(
        faults, *this,
        "dispatch {}{} aborted: {}{}{} at pc {:#x}, address {:#x}, work-group {},{},{} lane {} (compute unit {}, "
        "wavefront {})",
        run.number, name_of ? fmt::format(" ({})", name_of(run.what)) : "", describe(record.kind),
        record.kind == lane_fault::memory ? ": " : "", record.kind == lane_fault::memory ? describe(record.memory) : "",
        record.pc, record.address, record.group_id[0], record.group_id[1], record.group_id[2], record.lane,
        record.compute_unit, record.wavefront);
    abort(run);
}

void dispatcher::abort(dispatch_run& run) {
    run.aborted = true;
    for (auto* u : m_units) u->kill(run);
    if (run.finished == run.started && !m_complete.scheduled()) schedule(m_complete, now());
    if (!m_place.scheduled()) schedule(m_place, std::max(now(), m_next_start));
}

void dispatcher::abort(std::uint64_t number) {
    for (auto& r : m_runs)
        if (r->number == number && !r->aborted) return abort(*r);
}

void dispatcher::complete() {
    for (std::size_t i = 0; i < m_runs.size();) {
        auto& r = *m_runs[i];
        if (!placed(r) || r.finished != r.started) {
            ++i;
            continue;
        }
        const auto run = std::move(m_runs[i]);
        m_runs.erase(m_runs.begin() + static_cast<std::ptrdiff_t>(i));
        ++dispatches;
        if (auto* o = dispatch_observer::attached()) o->finished(m_units.front()->gpu(), *run, now());
        if (run->started) {
            duration.add(now() - run->started_at);
            if (m_activity) m_activity->ended();
            if (trace::on()) trace::slice(*this, name_of ? name_of(run->what) : "dispatch", run->started_at, now());
        }
        if (m_client) m_client->dispatch_done(*run);
    }
}

void dispatcher::release() {
    m_stuck_since = never;
    schedule(m_place, std::max(m_next_start, now()));
}

std::optional<model::wait> dispatcher::waits() const {
    const auto run = std::find_if(m_runs.begin(), m_runs.end(), [](const auto& r) { return !placed(*r); });
    if (m_stuck_since == never || run == m_runs.end()) return std::nullopt;
    const auto& r = **run;
    return wait{std::max(m_stuck_since, r.queued_at),
                fmt::format("its queue, which is stuck, with {} of {} work-groups of dispatch {} to start",
                            r.group_count - r.started, r.group_count, r.number)};
}

void dispatcher::reset() {
    m_stuck_end.cancel();
    m_stuck_since = never;
    for (const auto& r : m_runs)
        if (m_activity && r->started) m_activity->ended();
    m_runs.clear();
    m_next_unit = 0;
    m_next_start = 0;
    m_reconvergence.clear();
    cancel(m_place);
    cancel(m_complete);
    model::reset();
}

}  // namespace fabricvp::gpu
