// SPDX-License-Identifier: Apache-2.0
#include "base/trace_flow.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

namespace fabricvp::trace {

namespace {

constexpr std::size_t max_notes = 1024;  // stores that have not arrived, arrivals and results not asked for yet

struct store {
    std::string node;
    std::uint64_t bus, value;
    step from;
};
struct arrival {
    const sc_core::sc_object* at;
    ticks when;
    step from;
};
struct result {
    std::string node;
    const sc_core::sc_object* memory;  // null: at a bus address
    std::uint64_t address, value;
    ticks when;          // it was sent
    step found;          // the first load that brought it, if that was before it was shown
    std::uint64_t flow;  // 0: not shown yet
    std::string name;
};
std::deque<store> stores;
std::deque<arrival> arrivals;
std::deque<result> results;
std::uint64_t numbers = 0;

template <class Queue, class Item>
void push_bounded(Queue& queue, Item item) {
    queue.push_back(std::move(item));
    if (queue.size() > max_notes) queue.pop_front();
}

/// The node that a block belongs to: its name's first part.
std::string node_of(const sc_core::sc_object& o) {
    const std::string name = o.name();
    return name.substr(0, name.find('.'));
}

}  // namespace

void flow(std::vector<step> steps, std::string_view name) {
    std::stable_sort(steps.begin(), steps.end(), [](const step& a, const step& b) { return a.begin < b.begin; });
    if (!on() || steps.empty()) return;
    const auto number = ++numbers;
    const auto begins = [&](const arrival& a) {
        return std::any_of(steps.begin(), steps.end(),
                           [&](const step& s) { return s.track == a.at && s.begin == a.when; });
    };
    const auto ends = [&](const result& r) {
        return std::any_of(steps.begin(), steps.end(),
                           [&](const step& s) { return s.end == r.when && node_of(*s.track) == r.node; });
    };
    const auto origin = std::find_if(arrivals.begin(), arrivals.end(), begins);
    const auto left = std::find_if(results.begin(), results.end(), [&](const auto& r) { return !r.flow && ends(r); });
    if (origin != arrivals.end()) steps.insert(steps.begin(), origin->from);
    bool first = true;
    for (const auto& s : steps)
        if (detail::arrow(s, name, number, first ? 's' : 't')) first = false;
    if (left == results.end()) return;
    if (left->found.track) {
        detail::arrow(left->found, name, number, 'f');
        results.erase(left);
        return;
    }
    left->flow = number;
    left->name = name;
}

void detail::clear_flows() {
    stores.clear();
    arrivals.clear();
    results.clear();
    numbers = 0;
}

void note_store(const sc_core::sc_object& from, std::uint64_t bus, std::uint64_t value, ticks begin, ticks end) {
    push_bounded(stores, store{node_of(from), bus, value, {&from, begin, end, "store to a device"}});
}

void note_arrival(const sc_core::sc_object& at, std::uint64_t bus, std::uint64_t value, ticks now) {
    const auto node = node_of(at);
    const auto s = std::find_if(stores.begin(), stores.end(),
                                [&](const auto& o) { return o.bus == bus && o.value == value && o.node == node; });
    if (s == stores.end()) return;
    s->from.end = std::max(s->from.end, now);  // until it is there
    push_bounded(arrivals, arrival{&at, now, s->from});
    stores.erase(s);
}

void note_result(const sc_core::sc_object& from, std::uint64_t bus, std::uint64_t value, ticks now) {
    push_bounded(results, result{node_of(from), nullptr, bus, value, now, {}, 0, {}});
}

bool has_pending_results() { return !results.empty(); }

void note_result_written(const sc_core::sc_object& memory, std::uint64_t bus, std::uint64_t own, std::uint64_t bytes) {
    const auto node = node_of(memory);
    for (auto& r : results)
        if (!r.memory && r.address - bus < bytes && r.node == node) {
            r.memory = &memory;
            r.address += own - bus;
        }
}

void note_load(const sc_core::sc_object& by, const sc_core::sc_object* memory, std::uint64_t line,
               const std::uint8_t* data, std::uint64_t valid, ticks begin, ticks end) {
    const auto node = node_of(by);
    const auto r = std::find_if(results.begin(), results.end(), [&](const auto& o) {
        const auto offset = o.address - line;
        std::uint64_t there = 0;
        if (o.found.track || o.memory != memory || o.node != node || offset > 64 - sizeof there ||
            (valid >> offset & 0xff) != 0xff)
            return false;
        std::memcpy(&there, data + offset, sizeof there);
        return there == o.value;
    });
    if (r == results.end()) return;
    const step found{&by, begin, end, "finds it"};
    if (!r->flow) {
        r->found = found;
        return;
    }
    if (on()) detail::arrow(found, r->name, r->flow, 'f');
    results.erase(r);
}

}  // namespace fabricvp::trace
