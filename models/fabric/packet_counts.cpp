// SPDX-License-Identifier: Apache-2.0
#include "fabric/packet_counts.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/calendar.h"

namespace fabricvp::fabric {

packet_counts::kind_numbers packet_counts::kinds = all_unseen();
std::uint16_t packet_counts::seen_kinds = 0;

packet_counts::kind_numbers packet_counts::all_unseen() {
    kind_numbers all;
    for (auto& numbers : all) numbers.fill(unseen);
    return all;
}

void packet_counts::count_another(counts& c, const packet& p) {
    auto& number = kinds[static_cast<unsigned>(p.type)][p.bytes < sizes ? p.bytes : sizes - 1];
    if (number == unseen) number = seen_kinds++;
    if (number < c.first.size()) {
        ++c.first[number];
        return;
    }
    const auto place = number - c.first.size();
    c.more.resize(std::max(c.more.size(), place + 1));
    ++c.more[place];
}

void packet_counts::sums::operator+=(const sums& o) {
    packets += o.packets;
    bytes += o.bytes;
    flits += o.flits;
    padding += o.padding;
    quarter_padded += o.quarter_padded;
    for (std::size_t i = 0; i < padded.size(); ++i) padded[i] += o.padded[i];
}

void packet_counts::sums::operator-=(const sums& o) {
    packets -= o.packets;
    bytes -= o.bytes;
    flits -= o.flits;
    padding -= o.padding;
    quarter_padded -= o.quarter_padded;
    for (std::size_t i = 0; i < padded.size(); ++i) padded[i] -= o.padded[i];
}

packet_counts::sums packet_counts::of(packet_class c) const { return of(c, m_counts, m_base); }

packet_counts::sums packet_counts::of(packet_class c, const counts& counted, const counts& base) const {
    sums s;
    for (unsigned bytes = 0; bytes < sizes; ++bytes) {
        const auto number = kinds[static_cast<unsigned>(c)][bytes];
        const auto n = counted.of(number) - base.of(number);
        if (n) s += of_packets(n, bytes, (bytes + m_flit - 1) / m_flit);
    }
    return s;
}

/// Packets that are all alike.
packet_counts::sums packet_counts::of_packets(std::uint64_t n, std::uint64_t bytes, std::uint64_t flits) const {
    const auto padding = flits * m_flit - bytes;
    const auto quarters = 4 * padding / m_flit + (4 * padding % m_flit != 0);
    sums s{n, n * bytes, n * flits, n * padding, {}};
    s.padded[0] = n * (flits - 1);
    s.padded[quarters] += n;
    s.quarter_padded = 4 * padding >= m_flit ? n : 0;
    return s;
}

void packet_counts::add_carrier(unsigned bytes, unsigned flits) { m_carriers += of_packets(1, bytes, flits); }

packet_counts::sums packet_counts::wire() const {
    auto s = all();
    if (m_carriers.packets == 0) return s;
    for (unsigned c = 0; c < packet_classes; ++c) s -= of(static_cast<packet_class>(c), m_carried, m_carried_base);
    s += m_carriers;
    s -= m_carriers_base;
    return s;
}

packet_counts::sums packet_counts::all() const {
    sums s;
    for (unsigned c = 0; c < packet_classes; ++c) s += of(static_cast<packet_class>(c));
    return s;
}

std::uint64_t packet_counts::total_packets() const {
    std::uint64_t sum = 0;
    m_counts.for_each([&](std::uint64_t n) { sum += n; });
    return sum;
}

void packet_counts::restart() {
    m_base = m_counts;
    m_carried_base = m_carried;
    m_carriers_base = m_carriers;
    m_since = calendar::current().now();
}

void packet_counts::report(statistics_snapshot& to) const {
    static constexpr const char* shares[] = {"padded_0", "padded_25", "padded_50", "padded_75", "padded_100"};
    const auto put = [&](const std::string& prefix, const sums& s) {
        to[prefix + ".packets"] = static_cast<double>(s.packets);
        to[prefix + ".bytes"] = static_cast<double>(s.bytes);
        to[prefix + ".flits"] = static_cast<double>(s.flits);
        to[prefix + ".padding_bytes"] = static_cast<double>(s.padding);
        for (std::size_t i = 0; i < s.padded.size(); ++i)
            to[prefix + '.' + shares[i] + "_flits"] = static_cast<double>(s.padded[i]);
    };
    put(path(), all());
    if (m_carriers.packets) put(path() + ".wire", wire());
    for (unsigned c = 0; c < packet_classes; ++c)
        put(fmt::format("{}.{}", path(), name_of(static_cast<packet_class>(c))), of(static_cast<packet_class>(c)));
}

}  // namespace fabricvp::fabric
