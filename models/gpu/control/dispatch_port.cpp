// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/dispatch_port.h"

#include <algorithm>
#include <utility>

#include "base/counted_warning.h"
#include "gpu/control/queue_log.h"

namespace fabricvp::gpu {

namespace {
constexpr std::uint64_t hart_stride = 0x100;
constexpr std::size_t max_faults = 64;  // waiting for the firmware; more are only counted
register_field readable(const char* name, unsigned width, const char* help) {
    return {name, 0, width, field_access::read_only, help};
}
}  // namespace

void dispatch_port_params::describe(parameter_visitor& v) {
    v.field("software_overhead", software_overhead, between{0, 1e12},
            "time from a launch to its effect that stands for a vendor's driver and run-time, which are not modelled");
}

#define BANKED(member, name, offset, bytes) \
    member(p.registers, name, offset, bytes, 0, {}, {p.harts.size(), hart_stride})
#define READ_ONLY(member, name, offset, bytes, help) \
    member(p.registers, name, offset, bytes, 0, {readable("value", bytes * 8, help)})

dispatch_port::dispatch_port(const sc_core::sc_module_name& name, const dispatch_port_params& parameters,
                             command_processor& p, dispatcher& target)
    : model(name),
      params(parameters),
      BANKED(image, "dispatch_image", CP_DISPATCH_IMAGE, 8),
      BANKED(entry, "dispatch_entry", CP_DISPATCH_ENTRY, 8),
      BANKED(kernarg, "dispatch_kernarg", CP_DISPATCH_KERNARG, 8),
      BANKED(scratch, "dispatch_scratch", CP_DISPATCH_SCRATCH, 8),
      BANKED(scratch_bytes, "dispatch_scratch_bytes", CP_DISPATCH_SCRATCH_BYTES, 4),
      BANKED(scratch_size, "dispatch_scratch_size", CP_DISPATCH_SCRATCH_SIZE, 8),
      BANKED(lds_bytes, "dispatch_lds_bytes", CP_DISPATCH_LDS_BYTES, 4),
      BANKED(grid_x, "dispatch_grid_x", CP_DISPATCH_GRID_X, 4),
      BANKED(grid_y, "dispatch_grid_y", CP_DISPATCH_GRID_Y, 4),
      BANKED(grid_z, "dispatch_grid_z", CP_DISPATCH_GRID_Z, 4),
      BANKED(group_x, "dispatch_group_x", CP_DISPATCH_GROUP_X, 4),
      BANKED(group_y, "dispatch_group_y", CP_DISPATCH_GROUP_Y, 4),
      BANKED(group_z, "dispatch_group_z", CP_DISPATCH_GROUP_Z, 4),
      BANKED(space, "dispatch_space", CP_DISPATCH_SPACE, 4),
      BANKED(first_group, "dispatch_first_group", CP_DISPATCH_FIRST_GROUP, 8),
      BANKED(groups, "dispatch_groups", CP_DISPATCH_GROUPS, 8),
      BANKED(chunk, "dispatch_chunk", CP_DISPATCH_CHUNK, 4),
      BANKED(period, "dispatch_period", CP_DISPATCH_PERIOD, 4),
      BANKED(acquire, "dispatch_acquire", CP_DISPATCH_ACQUIRE, 4),
      BANKED(flags, "dispatch_flags", CP_DISPATCH_FLAGS, 4),
      BANKED(start, "dispatch_start", CP_DISPATCH_START, 4),
      BANKED(abort, "dispatch_abort", CP_DISPATCH_ABORT, 4),
      free(p.registers, "dispatch_free", CP_DISPATCH_FREE, 4, 0,
           {readable("count", 32, "launches that would be taken now")}, {p.harts.size(), hart_stride}),
      done(p.registers, "dispatch_done", CP_DISPATCH_DONE, 8, 0,
           {readable("result", 64, "oldest end of a launch; reading pops it")}, {p.harts.size(), hart_stride}),
      READ_ONLY(fault_kind, "fault_kind", CP_FAULT_KIND, 4, "enum gpu_fault"),
      READ_ONLY(fault_lane, "fault_lane", CP_FAULT_LANE, 4, "lane of the wavefront"),
      READ_ONLY(fault_compute_unit, "fault_compute_unit", CP_FAULT_COMPUTE_UNIT, 4, "compute unit"),
      READ_ONLY(fault_wavefront, "fault_wavefront", CP_FAULT_WAVEFRONT, 4, "slot in the compute unit"),
      READ_ONLY(fault_pc, "fault_pc", CP_FAULT_PC, 8, "in the code aperture"),
      READ_ONLY(fault_address, "fault_address", CP_FAULT_ADDRESS, 8, "what was accessed"),
      READ_ONLY(fault_cookie, "fault_cookie", CP_FAULT_COOKIE, 4, "of the launch"),
      READ_ONLY(fault_group_x, "fault_group_x", CP_FAULT_GROUP_X, 4, "work-group"),
      READ_ONLY(fault_group_y, "fault_group_y", CP_FAULT_GROUP_Y, 4, "work-group"),
      READ_ONLY(fault_group_z, "fault_group_z", CP_FAULT_GROUP_Z, 4, "work-group"),
      fault_pop(p.registers, "fault_pop", CP_FAULT_POP, 4, 0),
      m_processor(p),
      m_target(target),
      m_results(p.harts.size()) {
    target.set_client(*this);
    start.on_write([this](std::size_t hart, std::uint64_t cookie) {
        launch(static_cast<unsigned>(hart), static_cast<std::uint32_t>(cookie));
    });
    free.on_read([this](std::size_t) {
        const auto taken = m_target.in_flight() + m_waiting.size();
        return taken < m_target.params.queue_depth ? m_target.params.queue_depth - taken : 0;
    });
    done.on_read([this](std::size_t hart) { return pop(static_cast<unsigned>(hart)); });
    abort.on_write([this](std::size_t hart, std::uint64_t cookie) {
        abort_launch(std::uint64_t{hart} << 32 | (cookie & 0xffffffff));
    });
    p.on_doorbell = [this] { m_rung = m_waiting.empty() && m_in_flight.empty() ? now() : never; };
    fault_pop.on_write([this](std::size_t, std::uint64_t) {
        if (m_faults.empty()) return;
        m_faults.pop_front();
        show_fault();
    });
}
#undef BANKED
#undef READ_ONLY

void dispatch_port::launch(unsigned h, std::uint32_t cookie) {
    dispatch d;
    d.image = image.get(h);
    d.entry = entry.get(h);
    d.kernarg = kernarg.get(h);
    d.scratch = scratch.get(h);
    d.scratch_size = scratch_size.get(h);
    d.scratch_bytes = static_cast<std::uint32_t>(scratch_bytes.get(h));
    d.lds_bytes = static_cast<std::uint32_t>(lds_bytes.get(h));
    const auto word = [h](const device_register& r) { return static_cast<std::uint32_t>(r.get(h)); };
    d.grid = {word(grid_x), word(grid_y), word(grid_z)};
    d.group = {word(group_x), word(group_y), word(group_z)};
    d.address_space = word(space);
    d.first_group = first_group.get(h);
    d.groups = groups.get(h);
    d.chunk = word(chunk);
    d.period = word(period);
    d.acquire = acquire.get(h) != 0;
    d.flags = word(flags);
    flags.set(0, h);
    d.cookie = std::uint64_t{h} << 32 | cookie;
    const char* const reason = m_target.rejection_reason(d);
    if (const auto why = reason ? reason : m_target.oversubscription(d); !why.empty()) {
        count_warning(rejected, *this, "launch rejected: {}", why);
        if (m_processor.log && m_processor.log->on()) m_processor.log->rejected(h, why.c_str());
        add_fault(GPU_FAULT_RESOURCES, cookie, {});
        finish(h, cookie, GPU_FAULT_RESOURCES);
        return;
    }
    if (m_processor.log && m_processor.log->on()) m_processor.log->launched(h, cookie, d);
    m_waiting.push_back({now(), now() + params.software_overhead.value, std::exchange(m_rung, never), d, 0});
    submit_due();
}

/// In order. Harts that have read FREE at the same time may launch more than fits: that waits for its turn.
void dispatch_port::submit_due() {
    while (!m_waiting.empty() && m_waiting.front().due <= now() && m_target.can_submit()) {
        m_in_flight.push_back(m_waiting.front());
        m_in_flight.back().number = m_target.submit(m_waiting.front().what);
        m_waiting.pop_front();
        over_time.add(now(), 1);
        if (on_launch) on_launch();
    }
    if (!m_waiting.empty() && m_waiting.front().due > now() && !m_submit.scheduled())
        schedule(m_submit, m_waiting.front().due);
}

void dispatch_port::dispatch_done(const dispatch_run& run) {
    submit_due();
    const auto l =
        std::find_if(m_in_flight.begin(), m_in_flight.end(), [&](const launched& o) { return o.number == run.number; });
    if (l == m_in_flight.end()) return;  // of a processor that has been reset since
    note_times(*l, run);
    const auto since = l->at;
    m_in_flight.erase(l);
    const auto hart = static_cast<unsigned>(run.what.cookie >> 32);
    const auto cookie = static_cast<std::uint32_t>(run.what.cookie);
    const auto fault = run.aborted ? fault_number(run.fault) : GPU_FAULT_NONE;
    if (fault != GPU_FAULT_NONE) add_fault(fault, cookie, run.fault);
    const std::uint32_t result = run.aborted && fault == GPU_FAULT_NONE ? GPU_FAULT_ABORTED : fault;
    if (m_processor.log && m_processor.log->on()) m_processor.log->ended(run.what.cookie, result, since, now());
    finish(hart, cookie, result);
}

void dispatch_port::note_times(const launched& l, const dispatch_run& run) {
    if (run.started == 0) return;
    launch_to_start.add(run.started_at - l.at);
    if (l.rung != never) doorbell_to_launch.add(l.at - l.rung);
    if (run.executed_at == never) return;
    start_to_instruction.add(run.executed_at - run.started_at);
    if (l.rung != never) doorbell_to_instruction.add(run.executed_at - l.rung);
}

void dispatch_port::abort_launch(std::uint64_t cookie) {
    const auto same = [&](const launched& l) { return l.what.cookie == cookie; };
    const auto waiting = std::find_if(m_waiting.begin(), m_waiting.end(), same);
    if (waiting != m_waiting.end()) {
        if (m_processor.log && m_processor.log->on())
            m_processor.log->ended(cookie, GPU_FAULT_ABORTED, waiting->at, now());
        m_waiting.erase(waiting);
        return finish(static_cast<unsigned>(cookie >> 32), static_cast<std::uint32_t>(cookie), GPU_FAULT_ABORTED);
    }
    const auto found = std::find_if(m_in_flight.begin(), m_in_flight.end(), same);
    if (found != m_in_flight.end()) m_target.abort(found->number);
}

void dispatch_port::add_fault(gpu_fault number, std::uint32_t cookie, const fault_record& record) {
    if (m_faults.size() == max_faults) {
        ++faults_dropped;
        return;
    }
    m_faults.push_back({number, cookie, record});
    show_fault();
}

void dispatch_port::finish(unsigned hart, std::uint32_t cookie, std::uint32_t fault) {
    m_results[hart].push_back({cookie, fault});
    m_processor.set_event(hart, GPU_EVENT_DISPATCH, true);
}

std::uint64_t dispatch_port::pop(unsigned hart) {
    auto& results = m_results[hart];
    if (results.empty()) return 0;
    const auto r = results.front();
    results.pop_front();
    if (results.empty()) m_processor.set_event(hart, GPU_EVENT_DISPATCH, false);
    return CP_DISPATCH_DONE_VALID | std::uint64_t{r.fault} << 32 | r.cookie;
}

void dispatch_port::show_fault() {
    const waiting_fault nothing{GPU_FAULT_NONE, 0, {}};
    const auto& first = m_faults.empty() ? nothing : m_faults.front();
    const auto& r = first.record;
    fault_kind.set(first.number);
    fault_lane.set(r.lane);
    fault_compute_unit.set(r.compute_unit);
    fault_wavefront.set(r.wavefront);
    fault_pc.set(r.pc);
    fault_address.set(r.address);
    fault_cookie.set(first.cookie);
    fault_group_x.set(r.group_id[0]);
    fault_group_y.set(r.group_id[1]);
    fault_group_z.set(r.group_id[2]);
    m_processor.set_event(GPU_EVENT_FAULT, !m_faults.empty());
}

void dispatch_port::abort_all() {
    m_waiting.clear();
    cancel(m_submit);
    const auto launches = std::exchange(m_in_flight, {});
    for (const auto& l : launches) m_target.abort(l.number);
    m_rung = never;
    for (auto& r : m_results) r.clear();
    m_faults.clear();
    for (unsigned hart = 0; hart < m_results.size(); ++hart) m_processor.set_event(hart, GPU_EVENT_DISPATCH, false);
    show_fault();
}

void dispatch_port::reset() {
    m_waiting.clear();
    m_in_flight.clear();
    m_rung = never;
    cancel(m_submit);
    for (auto& r : m_results) r.clear();
    m_faults.clear();
    model::reset();
}

}  // namespace fabricvp::gpu
