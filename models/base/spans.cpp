// SPDX-License-Identifier: Apache-2.0
#include "base/spans.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "base/trace.h"
#include "base/trace_flow.h"

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

/// Follows spans back from the end: always one that lasts until the present point, at best exactly. take(span, from,
/// to) gets each part. \returns length of [begin, end) that no span covers
template <class Take>
ticks follow_back(const std::vector<span>& spans, ticks begin, ticks end, Take take) {
    ticks rest = 0, at = end;
    while (at > begin) {
        const span* best = nullptr;
        ticks before = begin;  // the latest end before `at`
        for (const auto& s : spans) {
            if (s.begin >= at) continue;
            if (s.end < at)
                before = std::max(before, s.end);
            else if (!best || s.end < best->end || (s.end == best->end && s.begin < best->begin))
                best = &s;
        }
        const ticks to = best ? std::max(best->begin, begin) : before;
        if (best)
            take(*best, to, at);
        else
            rest += at - to;
        at = to;
    }
    return rest;
}

/// Whether blocks of more than one node have a part in it.
bool of_several_nodes(const std::vector<trace::step>& steps) {
    std::string first;
    for (const auto& s : steps) {
        const std::string_view name = s.track->name(), node = name.substr(0, name.find('.'));
        if (node.substr(0, 4) != "node") continue;
        if (first.empty())
            first = node;
        else if (first != node)
            return true;
    }
    return false;
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

const char* name_of(span_reach reach) {
    static constexpr const char* names[] = {"", "own memory", "same cluster", "other cluster", "host"};
    return names[static_cast<unsigned>(reach)];
}

bool span_recorder::s_on = false;
bool span_recorder::s_was_on = false;

span_recorder& span_recorder::current() {
    static auto* recorder = new span_recorder;  // outlives every model, static ones too
    return *recorder;
}

span_stage::span_stage(const sc_core::sc_object& component, const char* name) {
    auto& recorder = span_recorder::current();
    auto& stages = recorder.m_stages;
    if (!recorder.m_names.emplace(component.name(), name).second)
        throw std::logic_error(std::string(component.name()) + ": stage " + name + " exists twice");
    m_id = static_cast<std::uint32_t>(stages.size());
    span_recorder::stage_sum sum;
    sum.component = component.name();
    sum.name = name;
    sum.object = &component;
    stages.push_back(std::move(sum));
}

span_stage::~span_stage() {
    auto& sum = span_recorder::current().m_stages[m_id];
    span_recorder::current().m_names.erase({sum.component, sum.name});
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

void span_recorder::record_next(std::size_t max_accesses) {
    m_recorded.clear();
    m_max_recorded = max_accesses;
}

void span_recorder::finish(span_list& spans, ticks begin, ticks end, const sc_core::sc_object* who,
                           std::string_view what, std::uint64_t address) {
    if (s_on) {
        const trace::access number{m_accesses++, address};
        m_total += end - begin;
        auto& path = path_of(what, spans.reach());
        ++path.accesses;
        path.total += end - begin;
        const ticks rest = follow_back(spans.spans(), begin, end, [&](const span& s, ticks from, ticks to) {
            if (path.stages.size() <= s.stage) path.stages.resize(m_stages.size());
            auto& sum = path.stages[s.stage];
            (s.kind == span_kind::queueing ? sum.queueing : sum.service) += to - from;
            ++sum.count;
        });
        path.unaccounted += rest;
        m_unaccounted += rest;
        for (const auto& s : spans.spans()) {
            auto& sum = m_stages[s.stage];
            const ticks length = s.end - s.begin;
            (s.kind == span_kind::queueing ? sum.queueing : sum.service) += length;
            sum.longest = std::max(sum.longest, length);
            ++sum.count;
            if (trace::on() && sum.object && length)
                trace::slice(*sum.object, s.kind == span_kind::queueing ? sum.name + " (waits)" : sum.name, s.begin,
                             s.end, number);
        }
        if (who && trace::on()) trace::slice(*who, what, begin, end, number);
        if (trace::on()) {
            std::vector<trace::step> steps;
            for (const auto& s : spans.spans())
                if (const auto* object = m_stages[s.stage].object; object && s.end > s.begin)
                    steps.push_back({object, s.begin, s.end, {}});
            if (of_several_nodes(steps)) trace::flow(std::move(steps), what);
        }
        if (who && m_recorded.size() < m_max_recorded)
            m_recorded.push_back({number.number, who->name(), std::string(what), address, begin, end, spans.spans()});
    }
    spans.clear();
}

span_recorder::path_sum& span_recorder::path_of(std::string_view what, span_reach reach) {
    for (auto& p : m_paths)
        if (p.reach == reach && p.what == what) return p;
    m_paths.push_back({std::string(what), reach, 0, 0, 0, {}});
    return m_paths.back();
}

std::vector<path_breakdown> span_recorder::paths() const {
    std::vector<path_breakdown> all;
    for (const auto& p : m_paths) {
        path_breakdown b;
        b.what = p.what;
        b.reach = p.reach;
        b.accesses = p.accesses;
        b.total = p.total;
        b.unaccounted = p.unaccounted;
        for (std::size_t i = 0; i < p.stages.size(); ++i)
            if (const auto& s = p.stages[i]; s.count)
                b.stages.push_back({m_stages[i].component, m_stages[i].name, s.queueing, s.service, s.count, 0});
        sort_by_path(b.stages);
        all.push_back(std::move(b));
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return std::tie(a.what, a.reach) < std::tie(b.what, b.reach); });
    return all;
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
    for (const auto& p : m_paths) {
        if (p.reach == span_reach::none) continue;
        std::string name = fabricvp::name_of(p.reach), path = "spans." + p.what + '.';
        for (const char c : name) path += c == ' ' ? '_' : c;
        to[path + ".accesses"] = static_cast<double>(p.accesses);
        to[path + ".total_ps"] = static_cast<double>(p.total);
    }
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
    m_paths.clear();
    m_recorded.clear();
}

}  // namespace fabricvp
