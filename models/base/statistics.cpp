// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "base/calendar.h"
#include "base/counter_totals.h"
#include "base/statistics_window.h"

namespace fabricvp {

namespace {

/// All statistics. Machines have hundreds of thousands, which come and go one by one, so they are put in order when
/// they are asked for.
class statistics_registry {
public:
    /// \returns false if there is one of that path
    bool add(statistic& s) {
        if (!m_places.emplace(s.path(), m_all.size()).second) return false;
        m_in_order = m_in_order && (m_all.empty() || m_all.back()->path() < s.path());
        m_all.push_back(&s);
        return true;
    }
    void remove(const statistic& s) {
        const auto at = m_places.find(s.path());
        const std::size_t place = at->second;
        m_places.erase(at);
        statistic* const last = m_all.back();
        m_all.pop_back();
        if (place == m_all.size()) return;
        m_all[place] = last;
        m_places.find(last->path())->second = place;
        m_in_order = false;
    }
    /// In path order.
    const std::vector<statistic*>& all() {
        if (m_in_order) return m_all;
        std::sort(m_all.begin(), m_all.end(),
                  [](const statistic* a, const statistic* b) { return a->path() < b->path(); });
        for (std::size_t place = 0; place < m_all.size(); ++place) m_places.find(m_all[place]->path())->second = place;
        m_in_order = true;
        return m_all;
    }

private:
    std::vector<statistic*> m_all;
    std::unordered_map<std::string_view, std::size_t> m_places;  // by path, in m_all; looked up only
    bool m_in_order = true;
};

statistics_registry& registry() {
    static auto* all = new statistics_registry;  // outlives every model, static ones too
    return *all;
}

bool lies_under(const std::string& path, const std::string& prefix) {
    if (path.compare(0, prefix.size(), prefix) != 0) return false;
    return prefix.empty() || prefix.back() == '.' || path.size() == prefix.size() || path[prefix.size()] == '.';
}

/// Prefix of paths → when the statistics below it were restarted last.
std::map<std::string, ticks>& window_starts() {
    static std::map<std::string, ticks> all;
    return all;
}

bool checked = false;

/// Whatever a model counts, no unit has worked for longer than has passed.
void check(const statistic& s, const statistics_snapshot& values, ticks now) {
    const auto value = values.find(s.path());
    if (value == values.end()) return;
    const double limit = s.limit(now - statistics_window_start(s.path()));
    if (value->second > limit)
        throw std::logic_error(
            fmt::format("statistic {} is {} {}, of {} at most", s.path(), value->second, s.unit(), limit));
}

/// Statistics report in the order of their paths, so most values come behind all that are there.
void append(statistics_snapshot& to, std::string path, double value) {
    to.insert_or_assign(to.end(), std::move(path), value);
}

}  // namespace

statistic::statistic(const sc_core::sc_object& owner, std::string name, std::string unit, std::string help)
    : m_words(new words{std::string(owner.name()) + '.' + name, std::move(unit), std::move(help)}) {
    if (!registry().add(*this)) throw std::logic_error("statistic " + path() + " exists twice");
}

statistic::~statistic() { registry().remove(*this); }

void counter::report(statistics_snapshot& to) const { append(to, path(), static_cast<double>(value())); }

derived::derived(const sc_core::sc_object& owner, std::string name, std::string unit, std::string help,
                 std::function<double()> value, double max)
    : statistic(owner, std::move(name), std::move(unit), std::move(help)), m_value(std::move(value)), m_max(max) {}

void derived::report(statistics_snapshot& to) const { append(to, path(), m_value()); }

void histogram::add(std::uint64_t value, std::uint64_t times) {
    if (times == 0) return;
    m_buckets[value ? 64 - static_cast<unsigned>(__builtin_clzll(value)) : 0] += times;
    m_count += times;
    m_sum += static_cast<double>(value) * static_cast<double>(times);
    m_min = std::min(m_min, value);
    m_max = std::max(m_max, value);
}

double histogram::percentile(double fraction) const {
    if (m_count == 0) return 0;
    const double rank = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(m_count);
    double below = 0;
    for (unsigned b = 0; b < m_buckets.size(); ++b) {
        const auto in_bucket = static_cast<double>(m_buckets[b]);
        if (in_bucket == 0 || below + in_bucket < rank) {
            below += in_bucket;
            continue;
        }
        // Bucket b holds [2^(b-1), 2^b - 1]; its ends are tightened by the extremes seen.
        const double low =
            std::max(b == 0 ? 0.0 : std::ldexp(1.0, static_cast<int>(b) - 1), static_cast<double>(m_min));
        const double high =
            std::min(b == 0 ? 0.0 : std::ldexp(1.0, static_cast<int>(b)) - 1, static_cast<double>(m_max));
        return low + (high - low) * (rank - below) / in_bucket;
    }
    return static_cast<double>(m_max);
}

void histogram::report(statistics_snapshot& to) const {
    append(to, path() + ".count", static_cast<double>(m_count));
    append(to, path() + ".max", static_cast<double>(m_max));
    append(to, path() + ".mean", mean());
    append(to, path() + ".min", m_count ? static_cast<double>(m_min) : 0.0);
    append(to, path() + ".p50", percentile(0.50));
    append(to, path() + ".p99", percentile(0.99));
    append(to, path() + ".sum", m_sum);
}

void histogram::restart() {
    m_buckets.fill(0);
    m_count = m_max = 0;
    m_min = ~std::uint64_t{0};
    m_sum = 0;
}

time_series::time_series(const sc_core::sc_object& owner, std::string name, std::string unit, std::string help,
                         ticks window, std::size_t max_windows)
    : statistic(owner, std::move(name), std::move(unit), std::move(help)),
      m_window(window),
      m_initial_window(window),
      m_max_windows(max_windows) {
    if (window == 0 || max_windows < 2)
        throw std::invalid_argument(path() + ": a time series needs a window and room for two");
}

void time_series::add(ticks when, double amount) {
    const ticks since = when > m_start ? when - m_start : 0;
    auto index = static_cast<std::size_t>(since / m_window);
    while (index >= m_max_windows) {
        const std::size_t half = (m_values.size() + 1) / 2;
        for (std::size_t i = 0; i < half; ++i)
            m_values[i] = m_values[2 * i] + (2 * i + 1 < m_values.size() ? m_values[2 * i + 1] : 0.0);
        m_values.resize(half);
        m_window *= 2;
        index = static_cast<std::size_t>(since / m_window);
    }
    if (index >= m_values.size()) m_values.resize(index + 1);
    m_values[index] += amount;
}

void time_series::report(statistics_snapshot& to) const {
    double sum = 0, peak = 0;
    for (const double v : m_values) {
        sum += v;
        peak = std::max(peak, v);
    }
    append(to, path() + ".peak", peak);
    append(to, path() + ".sum", sum);
    append(to, path() + ".window_ps", static_cast<double>(m_window));
    append(to, path() + ".windows", static_cast<double>(m_values.size()));
}

void time_series::restart() {
    m_values.clear();
    m_window = m_initial_window;
    m_start = calendar::current().now();
}

const std::vector<statistic*>& all_statistics() { return registry().all(); }

statistics_snapshot counter_totals() {
    statistics_snapshot totals;
    if (auto* timeline = calendar::find()) timeline->catch_up();
    for (const auto* s : registry().all())
        if (const auto* c = dynamic_cast<const counter*>(s); c && c->total())
            append(totals, c->path(), static_cast<double>(c->total()));
    return totals;
}

statistics_snapshot snapshot_statistics(const std::string& prefix) {
    statistics_snapshot all;
    if (auto* timeline = calendar::find()) timeline->catch_up();
    const auto* timeline = checked ? calendar::find() : nullptr;
    for (const statistic* s : registry().all())
        if (lies_under(s->path(), prefix)) {
            s->report(all);
            if (timeline) check(*s, all, timeline->now());
        }
    return all;
}

void check_statistics(bool on) { checked = on; }

void restart_statistics(const std::string& prefix) {
    if (auto* timeline = calendar::find()) timeline->catch_up();
    for (statistic* s : registry().all())
        if (lies_under(s->path(), prefix)) s->restart();
    auto& starts = window_starts();
    for (auto at = starts.begin(); at != starts.end();) at = lies_under(at->first, prefix) ? starts.erase(at) : ++at;
    if (const auto* timeline = calendar::find()) starts[prefix] = timeline->now();
}

ticks statistics_window_start(const std::string& path) {
    ticks start = 0;
    for (const auto& [prefix, when] : window_starts())
        if (lies_under(path, prefix)) start = std::max(start, when);
    return start;
}

}  // namespace fabricvp
