// SPDX-License-Identifier: Apache-2.0
#include "gpu/replay/recorder.h"

#include <algorithm>
#include <utility>

#include "gpu/lanes/dispatch.h"

namespace fabricvp::gpu::replay {

namespace {
/// Null: its wavefront is not recorded.
access_record* record_of(const vector_access& access) { return static_cast<access_record*>(access.observer_context); }
}  // namespace

recorder::recorder(const std::string& path, std::vector<ticks> cycles, unsigned caches, std::uint64_t max_bytes)
    : m_file(path),
      m_cycles(std::move(cycles)),
      m_caches(caches),
      m_max_bytes(max_bytes),
      m_tags(m_cycles.size()),
      m_fetched_lines(m_cycles.size() * caches * lines_known),
      m_found(m_cycles.size() * pages_known),
      m_launch_numbers(m_cycles.size()) {}

void recorder::begin(ticks now) {
    m_begun = m_event = now;
    m_recording = true;
    memory_observer::attach();
    dispatch_observer::attach();
}

void recorder::end(ticks now, const std::string& label) {
    close(now);
    m_head.label = label;
    m_ended = true;
}

/// Nothing that happens later belongs to the recording.
void recorder::close(ticks now) {
    if (std::exchange(m_closed, true)) return;
    host_event e;
    e.what = host_event::action::end;
    note(std::move(e), now);
    m_head.time = now - m_begun;
    m_recording = false;  // accesses of recorded wavefronts still complete
    dispatch_observer::detach();
}

/// Launches have as many work-groups as have begun; one at least, since all launches end.
void recorder::fill_up() {
    m_full = true;
    for (std::size_t i = 0; i < m_launches.size(); ++i)
        if (m_groups[i].open) m_launches[i].groups = std::max<std::uint32_t>(m_groups[i].number, 1);
}

/// With the last wavefront of a recording that is full, all of its launches end.
void recorder::retired(const stream& s, ticks now) {
    m_file.add(s);
    --m_running;
    if (m_closed || !m_full || m_running) return;
    for (std::size_t i = 0; i < m_launches.size(); ++i)
        if (m_groups[i].number < std::min<std::uint32_t>(m_launches[i].groups, 1)) return;
    for (std::size_t i = 0; i < m_launches.size(); ++i)
        if (std::exchange(m_groups[i].open, false)) m_finished.push_back(static_cast<std::uint32_t>(i));
    m_event = std::max(m_event, now);
    close(now);
}

void recorder::finish(recording_head head) {
    head.label = m_head.label;
    head.time = m_head.time;
    while (!m_live.empty()) write_first();
    head.unattributed = m_head.unattributed;
    m_file.finish(head, m_launches, m_host);
}

void recorder::note(host_event e, ticks now) {
    e.after = std::exchange(m_finished, {});
    e.delay = now - m_event;
    m_event = now;
    m_host.push_back(std::move(e));
}

void recorder::submitted(unsigned gpu, const dispatch_run& run, ticks now) {
    if (m_full) return;
    const auto number = static_cast<std::uint32_t>(m_launches.size());
    m_launch_numbers[gpu][run.number] = number;
    launch l;
    l.gpu = static_cast<std::uint8_t>(gpu);
    l.groups = static_cast<std::uint32_t>(run.group_count);
    l.group_wavefronts = run.group_wavefronts;
    l.lds_bytes = run.what.lds_bytes;
    if (run.what.scratch_bytes)
        l.scratch_areas = static_cast<std::uint32_t>(run.what.scratch_size / run.what.scratch_area_bytes());
    l.lanes = run.lanes();
    m_launches.push_back(l);
    m_groups.emplace_back();
    host_event e;
    e.number = number;
    note(std::move(e), now);
}

void recorder::finished(unsigned gpu, const dispatch_run& run, ticks now) {
    const auto at = m_launch_numbers[gpu].find(run.number);
    if (at == m_launch_numbers[gpu].end()) return;
    // Registers limit wavefronts as scratch memory does.
    auto& areas = m_launches[at->second].scratch_areas;
    if (const auto limit = static_cast<std::uint32_t>(run.register_wavefronts))
        areas = areas ? std::min(areas, limit) : limit;
    if (std::exchange(m_groups[at->second].open, false)) m_finished.push_back(at->second);
    m_launch_numbers[gpu].erase(at);
    m_event = std::max(m_event, now);
}

wavefront_observer* recorder::started(unsigned gpu, const dispatch_run& run, std::uint32_t number, ticks now) {
    const auto at = m_launch_numbers[gpu].find(run.number);
    if (at == m_launch_numbers[gpu].end()) return nullptr;
    const auto launch = at->second, group = static_cast<std::uint32_t>(run.started - 1);
    auto& begun = m_groups[launch].number;
    if (group >= begun && !m_full && m_file.size() >= m_max_bytes) fill_up();
    if (m_full && group >= m_launches[launch].groups) return nullptr;
    begun = std::max(begun, group + 1);
    ++m_running;
    return new wavefront_record(*this, launch, group, number, m_cycles[gpu], now);
}

void recorder::translated(unsigned gpu, const vector_access& access, unsigned transaction, std::uint64_t page,
                          ticks now) {
    auto* const a = record_of(access);
    if (!m_recording || !a) return;
    if (const auto walk = walk_of(gpu, page, now)) a->add_walk_dependency(transaction, walk);
}

/// What has brought the line might still be in flight on another fabric.
void recorder::hit(unsigned gpu, unsigned cache, const vector_access& access, unsigned transaction, std::uint64_t line,
                   ticks at) {
    auto* const a = record_of(access);
    if (!m_recording || !a || where(line) == GPU_PA_GPU0 + gpu) return;
    if (const auto id = fetched(gpu, cache, line, &a->owner, at)) a->add_dependency(transaction, id);
}

void recorder::requested(unsigned gpu, unsigned cache, const vector_access& access, line_request& request) {
    const auto* const a = record_of(access);
    if (!m_recording || !a) return;
    request.observer_id = cache == no_cache ? add_request(gpu, request, false, 0, nullptr)
                                            : add_request(gpu, request, true, cache, &a->owner);
}

void recorder::waits(const vector_access& access, unsigned transaction, std::uint32_t observer_id) {
    auto* const a = record_of(access);
    if (a && observer_id) a->add_dependency(transaction, observer_id);
}

void recorder::completed(vector_access& access, ticks ready) {
    if (auto* const a = record_of(access)) a->done(ready);
    access.observer_context = nullptr;
}

transaction_id recorder::add_request(unsigned gpu, const line_request& r, bool fetch, unsigned cache,
                                     const wavefront_record* user) {
    if (where(r.line) < GPU_PA_GPU0 || where(r.line) == GPU_PA_GPU0 + gpu) return 0;
    live_transaction t;
    t.line = r.line;
    t.cache = static_cast<std::uint16_t>(cache);
    t.gpu = static_cast<std::uint8_t>(gpu);
    t.kind = r.kind;
    t.fetch = fetch;
    t.page_table = r.page_table;
    t.read_critical = r.read_critical;
    t.sectors = r.kind == access_kind::read || r.operands ? r.needed_sectors : 0xf;
    t.offset = r.page_table ? r.offset : 0;
    m_live.push_back(t);
    const auto id = static_cast<transaction_id>(m_first + m_live.size() - 1);
    if (fetch) place_of(gpu, cache, r.line) = {r.line, id, user};
    return id;
}

void recorder::code_requested(unsigned gpu, unsigned cache, std::uint64_t line, line_request& request) {
    if (!m_recording) return;
    const auto id = request.observer_id = add_request(gpu, request, true, cache, nullptr);
    if (!id) return;
    find(id)->used = false;
    place_of(gpu, cache, line) = {line, id, nullptr};
}

transaction_id recorder::fetched(unsigned gpu, unsigned cache, std::uint64_t line, const wavefront_record* user,
                                 ticks now) {
    if (!m_recording) return 0;
    auto& b = place_of(gpu, cache, line);
    if (b.line != line || b.last_user == user) return 0;
    auto* t = find(b.what);
    if (!t || (t->completed != never && t->completed + recent < now)) return 0;
    b.last_user = user;
    t->used = true;
    return b.what;
}

ticks recorder::last_response(const std::vector<dependency>& dependencies) const {
    ticks last = 0;
    for (const auto& n : dependencies)
        if (n.what >= m_first && n.what < m_first + m_live.size())
            if (const auto when = m_live[n.what - m_first].completed; when != never) last = std::max(last, when);
    return last;
}

void recorder::walk_started(const void* walker, ticks now) {
    if (!m_recording) return;
    auto& w = m_walks[walker];
    w = {};
    w.last = now;
}

void recorder::walk_ended(const void* walker, std::uint64_t page, ticks now) {
    if (!m_recording) return;
    const auto at = m_walks.find(walker);
    if (at == m_walks.end()) return;
    auto w = std::move(at->second);
    m_walks.erase(at);
    if (w.made.steps.empty()) return;
    w.made.tail = cycles(w.made.gpu, now - w.last);
    m_file.add(w.made);
    m_found[w.made.gpu * pages_known + page % pages_known] = {page, ++m_walk_count, now};
}

walk_id recorder::walk_of(unsigned gpu, std::uint64_t page, ticks now) const {
    const auto& f = m_found[gpu * pages_known + page % pages_known];
    return f.page == page && f.when + recent >= now ? f.walk : 0;
}

transaction_id& recorder::tag_of(unsigned gpu, std::uint32_t tag) {
    if (m_tags[gpu].size() <= tag) m_tags[gpu].resize(tag + 1);
    return m_tags[gpu][tag];
}

void recorder::sent(unsigned gpu, std::uint32_t tag, const line_request& r, std::uint32_t operand_bytes, ticks now) {
    if (!m_recording) return;
    auto id = r.observer_id;
    if (r.page_table) {
        const auto at = m_walks.find(r.context);
        if (at != m_walks.end()) {
            id = add_request(gpu, r, false, 0, nullptr);
            find(id)->walker = r.context;
            at->second.made.gpu = static_cast<std::uint8_t>(gpu);
            at->second.made.steps.push_back({cycles(gpu, now - at->second.last), id});
        }
    }
    tag_of(gpu, tag) = id;
    if (auto* t = find(id))
        t->operands = static_cast<std::uint8_t>(operand_bytes);
    else if (!m_full)
        ++m_head.unattributed;
}

void recorder::arrived(unsigned gpu, std::uint32_t tag, ticks now) {
    if (!m_recording) return;
    if (auto* t = find(tag_of(gpu, tag))) t->arrived_at = now;
}

void recorder::served(unsigned gpu, std::uint32_t tag, ticks now) {
    if (!m_recording) return;
    if (auto* t = find(tag_of(gpu, tag))) t->service = cycles(gpu, now - t->arrived_at);
}

void recorder::responded(unsigned gpu, std::uint32_t tag, ticks now) {
    if (!m_recording) return;
    auto* t = find(std::exchange(tag_of(gpu, tag), 0));
    if (!t) return;
    t->completed = now;
    if (t->walker)
        if (const auto w = m_walks.find(t->walker); w != m_walks.end()) w->second.last = now;
    // Those that were answered some time ago go: what a load finds in a cache does not matter any more.
    while (!m_live.empty() && m_live.front().completed != never && m_live.front().completed + recent < now)
        write_first();
}

void recorder::write_first() {
    m_file.add(m_live.front());
    m_head.unattributed += !m_live.front().used;
    m_live.pop_front();
    ++m_first;
}

}  // namespace fabricvp::gpu::replay
