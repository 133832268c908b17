// SPDX-License-Identifier: Apache-2.0
#include "platform/fabric_traffic.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace fabricvp {
namespace {

double value_of(const statistics_snapshot& values, const std::string& path) {
    const auto at = values.find(path);
    return at == values.end() ? 0.0 : at->second;
}

fabric_traffic::direction direction_of(const fabric::port& p, const statistics_snapshot& values, double seconds) {
    fabric_traffic::direction w;
    w.bytes = value_of(values, p.transmitter.bytes.path());
    for (unsigned c = 0; c < fabric::packet_classes; ++c)
        w.flits += value_of(
            values, fmt::format("{}.{}.flits", p.sent.path(), fabric::name_of(static_cast<fabric::packet_class>(c))));
    if (seconds > 0)
        w.busy = value_of(values, p.transmitter.busy.path()) / static_cast<double>(ticks_per_second) / seconds;
    return w;
}

}  // namespace

fabric_traffic traffic_from(const fabric::interconnect& fabric, const statistics_snapshot& values, double seconds,
                            std::string interval) {
    fabric_traffic t{std::move(interval), seconds, {}};
    for (const auto& l : fabric.links())
        t.links.push_back({direction_of(*l.a, values, seconds), direction_of(*l.b, values, seconds)});
    return t;
}

fabric_traffic measured_traffic(const node& n) {
    struct sum {
        ticks time = 0;
        unsigned regions = 0;
        statistics_snapshot values;
    };
    std::map<std::string, sum> labels;
    for (const auto& r : n.host.marker.regions()) {
        auto& s = labels[r.label];
        s.time += r.to - r.from;
        ++s.regions;
        for (const auto& [path, value] : r.values) s.values[path] += value;
    }
    const auto longest = std::max_element(labels.begin(), labels.end(),
                                          [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
    const auto seconds = [](ticks t) { return static_cast<double>(t) / static_cast<double>(ticks_per_second); };
    if (longest == labels.end()) {
        const auto& links = n.fabric->links();
        const double passed = links.empty() ? 0.0 : seconds(calendar::current().now() - links.front().a->sent.since());
        return traffic_from(*n.fabric, snapshot_statistics(n.fabric->name()), passed, "the whole run");
    }
    const auto& [label, s] = *longest;
    return traffic_from(
        *n.fabric, s.values, seconds(s.time),
        s.regions == 1 ? fmt::format("region \"{}\"", label) : fmt::format("{} regions \"{}\"", s.regions, label));
}

}  // namespace fabricvp
