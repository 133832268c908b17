// SPDX-License-Identifier: Apache-2.0
#include "base/spans.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "base/trace.h"

namespace fabricvp {

namespace {

/// Length of [begin, end) that no span covers.
ticks uncovered(const std::vector<span>& spans, ticks begin, ticks end) {
    std::vector<std::pair<ticks, ticks>> covered;
    covered.reserve(spans.size());
    for (const auto& s : spans) covered.emplace_back(s.begin, s.end);
    std::sort(covered.begin(), covered.end());
    ticks rest = 0, at = begin;
    for (const auto& [from, to] : covered) {
        if (from >= end) break;
        if (from > at) rest += from - at;
        at = std::max(at, to);
    }
    return at < end ? rest + (end - at) : rest;
}

void sort_by_path(std::vector<stage_time>& stages) {
    std::sort(stages.begin(), stages.end(), [](const stage_time& a, const stage_time& b) {
        return std::tie(a.component, a.stage) < std::tie(b.component, b.stage);
    });
}

void count(stage_time& t, const span& s) {
    const ticks length = s.end - s.begin;
    (s.kind == span_kind::queueing ? t.queueing : t.service) += length;
    t.longest = std::max(t.longest, length);
    ++t.spans;
}

}  // namespace

bool span_recorder::s_on = false;

span_recorder& span_recorder::current() {
    static auto* recorder = new span_recorder;  // outlives every model, static ones too
    return *recorder;
}

span_stage::span_stage(const sc_core::sc_object& component, const char* name) {
    auto& stages = span_recorder::current().m_stages;
    for (const auto& s : stages)
        if (s.in_use && s.component == component.name() && s.name == name)
            throw std::logic_error(s.component + ": stage " + name + " exists twice");
    m_id = static_cast<std::uint32_t>(stages.size());
    span_recorder::stage_sum sum;
    sum.component = component.name();
    sum.name = name;
    sum.object = &component;
    sum.in_use = true;
    stages.push_back(std::move(sum));
}

span_stage::~span_stage() {
    auto& sum = span_recorder::current().m_stages[m_id];
    sum.in_use = false;
    sum.object = nullptr;
}

time_breakdown span_list::breakdown(ticks begin, ticks end) const {
    time_breakdown b;
    b.accesses = 1;
    b.total = end - begin;
    b.unaccounted = uncovered(m_spans, begin, end);
    const auto& known = span_recorder::current().m_stages;
    for (const auto& s : m_spans) {
        const auto& stage = known[s.stage];
        const auto same = [&](const stage_time& t) { return t.component == stage.component && t.stage == stage.name; };
        auto at = std::find_if(b.stages.begin(), b.stages.end(), same);
        if (at == b.stages.end()) {
            at = b.stages.insert(at, stage_time{});
            at->component = stage.component;
            at->stage = stage.name;
        }
        count(*at, s);
    }
    sort_by_path(b.stages);
    return b;
}

void span_trail::extend(const span_stage& stage, span_kind kind, ticks until) {
    if (until <= m_until) return;
    add(stage, kind, m_until, until);
    m_until = until;
}

void span_recorder::keep(std::size_t most) {
    m_kept.clear();
    m_most_kept = most;
}

void span_recorder::finish(span_list& spans, ticks begin, ticks end, const sc_core::sc_object* who, std::string_view what,
                           std::uint64_t address) {
    if (s_on) {
        const trace::access number{m_accesses++, address};
        m_total += end - begin;
        m_unaccounted += uncovered(spans.spans(), begin, end);
        for (const auto& s : spans.spans()) {
            auto& sum = m_stages[s.stage];
            const ticks length = s.end - s.begin;
            (s.kind == span_kind::queueing ? sum.queueing : sum.service) += length;
            sum.longest = std::max(sum.longest, length);
            ++sum.count;
            if (trace::on() && sum.object && length)
                trace::slice(*sum.object, s.kind == span_kind::queueing ? sum.name + " (waits)" : sum.name, s.begin, s.end, number);
        }
        if (who && trace::on()) trace::slice(*who, what, begin, end, number);
        if (who && m_kept.size() < m_most_kept) m_kept.push_back({number.number, who->name(), std::string(what), address, begin, end, spans.spans()});
    }
    spans.clear();
}

time_breakdown span_recorder::breakdown() const {
    time_breakdown b;
    b.accesses = m_accesses;
    b.total = m_total;
    b.unaccounted = m_unaccounted;
    for (const auto& s : m_stages)
        if (s.count) b.stages.push_back({s.component, s.name, s.queueing, s.service, s.count, s.longest});
    sort_by_path(b.stages);
    return b;
}

void span_recorder::report(statistics_snapshot& to) const {
    if (!m_accesses) return;
    const time_breakdown b = breakdown();
    to["spans.accesses"] = static_cast<double>(b.accesses);
    to["spans.total_ps"] = static_cast<double>(b.total);
    to["spans.unaccounted_ps"] = static_cast<double>(b.unaccounted);
    for (const auto& s : b.stages) {
        const std::string path = s.component + '.' + s.stage + ".spans.";
        to[path + "count"] = static_cast<double>(s.spans);
        to[path + "queueing_ps"] = static_cast<double>(s.queueing);
        to[path + "service_ps"] = static_cast<double>(s.service);
        to[path + "longest_ps"] = static_cast<double>(s.longest);
    }
}

void span_recorder::restart() {
    for (auto& s : m_stages) s.count = s.queueing = s.service = s.longest = 0;
    m_accesses = m_total = m_unaccounted = 0;
    m_kept.clear();
}

}  // namespace fabricvp
