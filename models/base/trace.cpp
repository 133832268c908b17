// SPDX-License-Identifier: Apache-2.0
#include "base/trace.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/calendar.h"
#include "base/log.h"
#include "base/trace_flow.h"

namespace fabricvp::trace {

namespace {

constexpr std::uint64_t smallest_file = 4096;
constexpr const char* tail = "\n]}\n";
constexpr std::uint64_t tail_bytes = 512;  // kept free for the marker event and the closing brackets

std::string escaped(std::string_view text) {
    std::string s;
    for (const char c : text) {
        if (c == '"' || c == '\\') s += '\\';
        if (static_cast<unsigned char>(c) < 0x20)
            s += fmt::format("\\u{:04x}", c);
        else
            s += c;
    }
    return s;
}

/// Microseconds, which the format counts in, without rounding.
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
    explicit writer(const options& o) : m_options(o), m_file(std::fopen(o.path.c_str(), "w")) {
        if (!m_file)
            throw std::runtime_error(
                fmt::format("cannot write the trace {}: {}", o.path, std::generic_category().message(errno)));
        put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":"
            "{\"name\":\"simulation\"}}");
    }
    ~writer() {
        if (!m_file) return;
        put(tail);
        std::fclose(m_file);
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
        const auto arguments =
            of ? fmt::format(R"(,"args":{{"access":{},"address":"{:#x}"}})", of->number, of->address) : std::string();
        event(fmt::format(R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":"{}"{}}})", t.lanes[lane].id,
                          microseconds(begin), microseconds(end - begin), escaped(name), arguments));
    }

    void instant(const sc_core::sc_object& object, std::string_view name, ticks at) {
        if (!admit(object, inside(at))) return;
        track& t = m_tracks.at(&object);
        open_lane(object, t, 0);
        event(fmt::format(R"({{"ph":"i","s":"t","pid":1,"tid":{},"ts":{},"name":"{}"}})", t.lanes[0].id,
                          microseconds(at), escaped(name)));
    }

    void counter(const sc_core::sc_object& object, std::string_view name, ticks at, double value) {
        if (!admit(object, inside(at))) return;
        event(fmt::format(R"({{"ph":"C","pid":1,"ts":{},"name":"{}.{}","args":{{"value":{}}}}})", microseconds(at),
                          object.name(), escaped(name), value));
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
        event(fmt::format(R"({{"ph":"{}","bp":"e","cat":"flow","id":{},"pid":1,"tid":{},"ts":{},"name":"{}"}})", phase,
                          number, found->id, microseconds(s.begin), escaped(name)));
        return true;
    }

    summary finish() {
        put(tail);
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

    bool inside(ticks at) const { return at >= m_options.from && at < m_options.to; }

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
        record(fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":"{}{}"}}}})", m_lanes,
                           object.name(), suffix));
    }

    void event(const std::string& json) {
        if (record(json)) ++m_summary.events;
    }

    bool record(const std::string& json) {
        if (!detail::active) return false;
        if (m_bytes + json.size() + 2 + tail_bytes > m_options.max_bytes) {
            detail::active = false;
            m_summary.capped = true;
            put(fmt::format(
                ",\n"
                R"({{"ph":"i","s":"g","pid":1,"tid":0,"ts":{},"name":"trace ends here: size limit of {} bytes"}})",
                microseconds(calendar::find() ? calendar::find()->now() : 0), m_options.max_bytes));
            return false;
        }
        put(",\n" + json);
        return true;
    }

    void put(const std::string& text) {
        std::fwrite(text.data(), 1, text.size(), m_file);
        m_bytes += text.size();
    }

    std::string why_empty() const {
        const auto& o = m_options;
        if (m_tracks.empty()) return "the trace is empty: no model had anything to show while it was recorded";
        if (!m_matching_tracks)
            return fmt::format(
                "the trace is empty: the filter '{}' matches none of the {} objects that had something to show, {} "
                "for one",
                o.filter, m_tracks.size(), first_name());
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
    std::FILE* m_file;
    std::map<const sc_core::sc_object*, track> m_tracks;  // looked up only: its order is never seen
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

void start(const options& o) {
    if (current) throw std::runtime_error("a trace is being recorded already");
    if (o.from >= o.to) throw std::invalid_argument("the window of the trace is empty");
    if (o.max_bytes < smallest_file) throw std::invalid_argument("the size limit of a trace is at least 4 KiB");
    current = std::make_unique<writer>(o);
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
