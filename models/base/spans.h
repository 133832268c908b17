// SPDX-License-Identifier: Apache-2.0
// Where did the time of an access go? A transaction carries a span_list; each stage that it passes adds time stamps at
// its borders, queueing (waiting for something) apart from service (being worked on). The block that ends it
// hands the list to the recorder, which keeps the break-down a stage; the list itself answers for the single access.
//
//     span_stage m_l1_lookup{*this, "l1_lookup"};
//     packet.spans.add(m_l1_lookup, span_kind::queueing, arrived, granted);
//
// While recording is off, adding costs one test. While a trace is recorded, the spans of an access are shown in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <systemc>

#include "base/statistics.h"
#include "base/time.h"

namespace fabricvp {

enum class span_kind : std::uint8_t { queueing, service };

/// How far an access went: the farthest place that any part of it was sent to. `none`: a cache responded, or unknown.
enum class span_reach : std::uint8_t { none, own_memory, same_cluster, other_cluster, host };
/// "own memory", "other cluster", …; empty for `none`.
const char* name_of(span_reach reach);

/// A stage of a component, by value in its model. \throws std::logic_error if the component has one of that name
/// already.
class span_stage {
public:
    span_stage(const sc_core::sc_object& component, const char* name);
    ~span_stage();
    span_stage(const span_stage&) = delete;
    span_stage& operator=(const span_stage&) = delete;

    std::uint32_t id() const { return m_id; }

private:
    std::uint32_t m_id;
};

/// One time stamp pair; `stage` is a span_stage's id().
struct span {
    std::uint32_t stage;
    span_kind kind;
    ticks begin;
    ticks end;
};

/// Time that one stage took, of one access or of many, in ticks.
struct stage_time {
    std::string component;  ///< hierarchical name
    std::string stage;
    ticks queueing = 0;
    ticks service = 0;
    std::uint64_t spans = 0;
    ticks longest = 0;  ///< longest single span
};

/// The response for one access or the sum over many.
struct time_breakdown {
    std::uint64_t accesses = 0;
    ticks total = 0;                 ///< from begin to end of the accesses
    ticks unaccounted = 0;           ///< part of it that no span covers; spans may overlap
    std::vector<stage_time> stages;  ///< in path order; stages without spans are left out
};

/// Where the time of accesses of one kind and reach went, counted once: of spans that overlap, the chain that ended
/// last. The stages' times and `unaccounted` add up to `total`; `longest` is not kept.
struct path_breakdown : time_breakdown {
    std::string what;  ///< "load", "write", …
    span_reach reach = span_reach::none;
};

/// The spans of one transaction. It keeps its storage when cleared, so pooled transactions do not allocate.
class span_list {
public:
    void add(const span_stage& stage, span_kind kind, ticks begin, ticks end);
    void clear() {
        m_spans.clear();
        m_reach = span_reach::none;
    }
    /// The access has gone that far, if it has not gone farther.
    void mark(span_reach reach) {
        if (reach > m_reach) m_reach = reach;
    }
    span_reach reach() const { return m_reach; }
    bool empty() const { return m_spans.empty(); }
    const std::vector<span>& spans() const { return m_spans; }
    /// Takes over the spans of a child transaction.
    void append(const span_list& child) {
        m_spans.insert(m_spans.end(), child.m_spans.begin(), child.m_spans.end());
        mark(child.m_reach);
    }

    /// Where the time of this access, which lasted from `begin` to `end`, went.
    time_breakdown breakdown(ticks begin, ticks end) const;

private:
    std::vector<span> m_spans;
    span_reach m_reach = span_reach::none;
};

/// Spans that follow each other without gap: each begins where the one before it ended.
class span_trail : public span_list {
public:
    /// The next span begins at `now`.
    void resume(ticks now) { m_until = now; }
    /// The time from where the spans end until `until` went into `stage`; nothing if they end later.
    void pass(const span_stage& stage, span_kind kind, ticks until);
    /// Takes over the spans of the transaction that this one comes of.
    void follow(const span_trail& parent);

private:
    void extend(const span_stage& stage, span_kind kind, ticks until);

    ticks m_until = 0;
};

/// An access that the recorder has kept whole.
struct recorded_access {
    std::uint64_t number;  ///< counted from the restart on, in order of their ends; the trace shows the same
    std::string who;       ///< hierarchical name of the model where it ended: a reader, the target of a posted write
    std::string what;      ///< "read", "write", …
    std::uint64_t address = 0;
    ticks begin = 0, end = 0;
    std::vector<span> spans;
};

/// Sums over all transactions of the simulation.
class span_recorder {
public:
    static span_recorder& current();

    /// Keeps the next `most` accesses whole, and drops those that are kept.
    void record_next(std::size_t max_accesses);
    const std::vector<recorded_access>& recorded() const { return m_recorded; }
    /// Component and name of a stage, by its id.
    const std::string& component_of(std::uint32_t stage) const { return m_stages[stage].component; }
    const std::string& name_of(std::uint32_t stage) const { return m_stages[stage].name; }

    /// Off at first. Turning it on does not clear what was recorded.
    void enable(bool on) {
        s_on = on;
        s_was_on |= on;
    }
    static bool on() { return s_on; }
    /// Whether it is or ever was on: before, all lists are empty.
    static bool was_on() { return s_was_on; }

    /// Ends a transaction that lasted from `begin` to `end`, and clears its list.
    /// \param who where it ended, if it may be kept whole \param what its kind \param address of its first byte
    void finish(span_list& spans, ticks begin, ticks end, const sc_core::sc_object* who = nullptr,
                std::string_view what = {}, std::uint64_t address = 0);
    time_breakdown breakdown() const;
    /// The same along the chains of spans that ended last, by kind of access and reach, in this order.
    std::vector<path_breakdown> paths() const;
    /// Adds `<component>.<stage>.spans.{count,queueing_ps,service_ps,longest_ps}` and
    /// `spans.{accesses,total_ps,unaccounted_ps}`, and for accesses with a reach
    /// `spans.<what>.<reach>.{accesses,total_ps}`.
    void report(statistics_snapshot& to) const;
    /// Starts a region of interest.
    void restart();

private:
    friend class span_stage;
    friend class span_list;
    struct stage_sum {
        std::string component, name;
        const sc_core::sc_object* object = nullptr;  // while in use
        std::uint64_t count = 0;
        ticks queueing = 0, service = 0, longest = 0;
    };
    struct path_stage {
        ticks queueing = 0, service = 0;
        std::uint64_t count = 0;
    };
    struct path_sum {
        std::string what;
        span_reach reach;
        std::uint64_t accesses = 0;
        ticks total = 0, unaccounted = 0;
        std::vector<path_stage> stages;  // by id
    };
    path_sum& path_of(std::string_view what, span_reach reach);

    static bool s_on;
    static bool s_was_on;
    std::vector<stage_sum> m_stages;                        // by id
    std::set<std::pair<std::string, std::string>> m_names;  // component and stage, of those in use
    std::vector<path_sum> m_paths;                          // few
    std::uint64_t m_accesses = 0;
    ticks m_total = 0, m_unaccounted = 0;
    std::vector<recorded_access> m_recorded;
    std::size_t m_max_recorded = 0;
};

inline void span_list::add(const span_stage& stage, span_kind kind, ticks begin, ticks end) {
    if (span_recorder::on()) m_spans.push_back({stage.id(), kind, begin, end});
}

inline void span_trail::pass(const span_stage& stage, span_kind kind, ticks until) {
    if (span_recorder::on()) extend(stage, kind, until);
}

inline void span_trail::follow(const span_trail& parent) {
    m_until = parent.m_until;
    if (span_recorder::on()) span_list::operator=(parent);
}

}  // namespace fabricvp
