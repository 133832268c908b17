// SPDX-License-Identifier: Apache-2.0
#include "base/trace.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/calendar.h"
#include "base/log.h"
#include "base/trace_flow.h"
#include "base/trace_format.h"

namespace fabricvp::trace {

namespace {

constexpr std::uint64_t tail_bytes = 512;       // kept free for the marker event and the format's tail
constexpr std::size_t batch_bytes = 256 << 10;  // of events that go to the file together

/// In a warning; the formats write times by themselves.
std::string microseconds(ticks t) { return fmt::format("{}.{:06}", t / 1'000'000, t % 1'000'000); }

bool matches(const std::string& filter, const char* name) {
    for (std::size_t from = 0; from <= filter.size();) {
        const std::size_t comma = std::min(filter.find(',', from), filter.size());
        if (fnmatch(filter.substr(from, comma - from).c_str(), name, 0) == 0) return true;
        from = comma + 1;
    }
    return false;
}

class writer {
public:
    writer(const options& o, std::unique_ptr<format> as)
        : m_options(o), m_format(std::move(as)), m_file(std::fopen(o.path.c_str(), "w")) {
        if (!m_file)
            throw std::runtime_error(
                fmt::format("cannot write the trace {}: {}", o.path, std::generic_category().message(errno)));
        if (!o.region.empty()) m_options.from = m_options.to = never;
        put(m_format->head());
    }
    ~writer() {
        if (!m_file) return;
        complete();
        std::fclose(m_file);
    }

    bool inside(ticks at) const { return at >= m_options.from && at < m_options.to; }

    /// The window is where any node has the region open. What lasts longer is cut at its ends.
    void region_begins(const sc_core::sc_object& marker, std::string_view label, ticks at) {
        if (m_options.region.empty()) return;
        if (label != m_options.region) return region_ends(marker, at);
        if (m_open.empty()) m_options.from = at, m_options.to = never;
        m_open.insert(&marker);
        m_regions = true;
    }
    void region_ends(const sc_core::sc_object& marker, ticks at) {
        if (m_open.erase(&marker) && m_open.empty()) m_options.to = at;
    }

    void slice(const sc_core::sc_object& object, std::string_view name, ticks begin, ticks end, const access* of) {
        if (!admit(object, inside(begin) || (begin < m_options.from && end > m_options.from))) return;
        begin = std::max(begin, m_options.from);
        end = std::min(end, m_options.to);
        track& t = m_tracks.at(&object);
        std::size_t lane = 0;
        while (lane < t.lanes.size() && t.lanes[lane].busy_until > begin) ++lane;
        open_lane(object, t, lane);
        t.lanes[lane].busy_until = end;
        t.lanes[lane].recent[t.lanes[lane].next++ % t.lanes[lane].recent.size()] = {begin, end};
        event(m_format->slice(t.lanes[lane].id, name, begin, end, of));
    }

    void instant(const sc_core::sc_object& object, std::string_view name, ticks at) {
        if (!admit(object, inside(at))) return;
        track& t = m_tracks.at(&object);
        open_lane(object, t, 0);
        event(m_format->instant(t.lanes[0].id, name, at));
    }

    void counter(const sc_core::sc_object& object, std::string_view name, ticks at, double value) {
        if (!admit(object, inside(at))) return;
        event(m_format->counter(fmt::format("{}.{}", object.name(), name), at, value));
    }

    /// One end of an arrow, at the begin of a slice that lies in the window. \param phase s, t, f: first, next, last
    /// \returns whether it is shown
    bool arrow(const step& s, std::string_view name, std::uint64_t number, char phase) {
        if (!inside(s.begin) || s.end > m_options.to) return false;
        const lane* found = find(s);
        if (!found && !s.name.empty()) {
            slice(*s.track, s.name, s.begin, s.end, nullptr);
            found = find(s);
        }
        if (!found) return false;
        event(m_format->arrow(found->id, name, s.begin, number, phase));
        return true;
    }

    summary finish() {
        complete();
        const bool failed = std::ferror(m_file) != 0;
        const bool closed = std::fclose(m_file) == 0;
        m_file = nullptr;
        m_summary.bytes = m_bytes;
        if (failed || !closed)
            m_summary.warning = fmt::format("the trace {} could not be written completely", m_options.path);
        else if (m_summary.capped)
            m_summary.warning = fmt::format("the trace {} ended early at its size limit of {} bytes", m_options.path,
                                            m_options.max_bytes);
        else if (m_summary.events == 0)
            m_summary.warning = why_empty();
        if (!m_summary.warning.empty() && !failed && closed)
            log_message(log_level::warning, "trace", m_summary.warning);
        return m_summary;
    }

private:
    struct lane {
        unsigned id;
        ticks busy_until;
        std::array<std::pair<ticks, ticks>, 16> recent;  // begin and end of slices, for arrows
        std::size_t next;
    };
    struct track {
        bool matches_filter;
        std::string name;
        std::vector<lane> lanes;
    };

    const lane* find(const step& s) const {
        const auto at = m_tracks.find(s.track);
        if (at == m_tracks.end()) return nullptr;
        for (const auto& l : at->second.lanes)
            if (std::find(l.recent.begin(), l.recent.end(), std::pair{s.begin, s.end}) != l.recent.end()) return &l;
        return nullptr;
    }

    bool admit(const sc_core::sc_object& object, bool in_window) {
        auto at = m_tracks.find(&object);
        if (at == m_tracks.end()) {
            at = m_tracks.emplace(&object, track{matches(m_options.filter, object.name()), object.name(), {}}).first;
            if (at->second.matches_filter) ++m_matching_tracks;
        }
        if (!at->second.matches_filter) return false;
        if (!in_window) ++m_outside;
        return in_window;
    }

    void open_lane(const sc_core::sc_object& object, track& t, std::size_t lane_number) {
        if (lane_number < t.lanes.size()) return;
        t.lanes.push_back({++m_lanes, 0, {}, 0});
        const std::string suffix = lane_number ? fmt::format(" #{}", lane_number + 1) : "";
        record(m_format->track(m_lanes, object.name() + suffix));
    }

    void event(const std::string& bytes) {
        if (record(bytes)) ++m_summary.events;
    }

    bool record(const std::string& bytes) {
        if (!detail::active) return false;
        if (m_batch.size() + bytes.size() > batch_bytes || !has_room(bytes)) end_batch();
        if (!has_room(bytes)) {
            detail::active = false;
            m_summary.capped = true;
            const auto now = calendar::find() ? calendar::find()->now() : 0;
            m_batch +=
                m_format->instant(0, fmt::format("trace ends here: size limit of {} bytes", m_options.max_bytes), now);
            return false;
        }
        m_batch += bytes;
        return true;
    }

    /// Whether the file stays small enough even if nothing can be compressed.
    bool has_room(const std::string& bytes) const {
        return m_bytes + m_batch.size() + bytes.size() + format::packing + tail_bytes <= m_options.max_bytes;
    }

    void end_batch() {
        put(m_format->packed(std::move(m_batch)));
        m_batch.clear();
    }

    void complete() {
        end_batch();
        put(m_format->tail());
    }

    void put(const std::string& bytes) {
        std::fwrite(bytes.data(), 1, bytes.size(), m_file);
        m_bytes += bytes.size();
    }

    std::string why_empty() const {
        const auto& o = m_options;
        if (m_tracks.empty()) return "the trace is empty: no model had anything to show while it was recorded";
        if (!m_matching_tracks)
            return fmt::format(
                "the trace is empty: the filter '{}' matches none of the {} objects that had something to show, {} "
                "for one",
                o.filter, m_tracks.size(), first_name());
        if (!o.region.empty() && !m_regions)
            return fmt::format("the trace is empty: no software began the region '{}' while it was recorded", o.region);
        if (!o.region.empty())
            return fmt::format("the trace is empty: {} events lie outside of the region '{}'", m_outside, o.region);
        return fmt::format("the trace is empty: {} events lie outside of its window, {} us to {}", m_outside,
                           microseconds(o.from), o.to == never ? "the end" : microseconds(o.to) + " us");
    }

    std::string first_name() const {
        std::string first;
        for (const auto& [object, t] : m_tracks)
            if (first.empty() || t.name < first) first = t.name;
        return first;
    }

    options m_options;
    std::unique_ptr<format> m_format;
    std::FILE* m_file;
    std::string m_batch;                                  // events that are not in the file yet
    std::map<const sc_core::sc_object*, track> m_tracks;  // looked up only: its order is never seen
    std::set<const sc_core::sc_object*> m_open;           // markers whose region is open; its order is never seen
    bool m_regions = false;                               // there was one
    unsigned m_matching_tracks = 0, m_lanes = 0;
    std::uint64_t m_outside = 0, m_bytes = 0;
    summary m_summary;
};

std::unique_ptr<writer> current;

}  // namespace

namespace detail {

bool active = false;

void slice(const sc_core::sc_object& track, std::string_view name, ticks begin, ticks end, const access* of) {
    current->slice(track, name, begin, end, of);
}
void instant(const sc_core::sc_object& track, std::string_view name, ticks at) { current->instant(track, name, at); }
void counter(const sc_core::sc_object& track, std::string_view name, ticks at, double value) {
    current->counter(track, name, at, value);
}
bool arrow(const step& s, std::string_view name, std::uint64_t number, char phase) {
    return current->arrow(s, name, number, phase);
}

}  // namespace detail

void region_begins(const sc_core::sc_object& marker, std::string_view label, ticks at) {
    if (current) current->region_begins(marker, label, at);
}

void region_ends(const sc_core::sc_object& marker, ticks at) {
    if (current) current->region_ends(marker, at);
}

bool records(ticks at) { return current && current->inside(at); }

void start(const options& o) { start(o, json_format()); }

void start(const options& o, std::unique_ptr<format> as) {
    if (current) throw std::runtime_error("a trace is being recorded already");
    if (o.from >= o.to) throw std::invalid_argument("the window of the trace is empty");
    if (o.max_bytes < smallest_file) throw std::invalid_argument("the size limit of a trace is at least 4 KiB");
    current = std::make_unique<writer>(o, std::move(as));
    detail::clear_flows();
    detail::active = true;
}

summary stop() {
    if (!current) return {};
    const summary s = current->finish();
    current.reset();
    detail::clear_flows();
    detail::active = false;
    return s;
}

}  // namespace fabricvp::trace
