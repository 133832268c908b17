// SPDX-License-Identifier: Apache-2.0
// Two links of one protocol with the same traffic, one of them cut: its ends exchange nothing but bytes, which reach
// the other end at the close of a window as long as the time of flight. What a protocol must say of itself:
//
//     struct protocol {
//         using far_end = fabric::far_end;
//         struct device { port link; std::vector<heard> received; void send(unsigned number); … };
//         static void connect(device& a, device& b);
//         static void connect(device& here, far_end& there);
//         static void append_packet(link::message_bytes& to, const packet& p);   // and take_packet()
//     };
#pragma once

#include <catch2/catch.hpp>

#include <deque>
#include <string>
#include <vector>

#include "base/calendar.h"
#include "link/far_end.h"

namespace fabricvp::test {

inline constexpr ticks flight = 20'000;

struct heard {
    ticks when;
    unsigned number;
    std::vector<std::uint8_t> bytes;
    bool operator==(const heard& o) const { return when == o.when && number == o.number && bytes == o.bytes; }
};

/// Bytes that tell one packet from another.
inline buffer_slice payload_of(unsigned number, std::size_t bytes) {
    const auto s = allocate_slice(bytes);
    for (std::size_t i = 0; i < bytes; ++i) s.data()[i] = static_cast<std::uint8_t>(number * 31 + i);
    return s;
}
inline std::vector<std::uint8_t> bytes_of(const buffer_slice& s) {
    return s.length ? std::vector<std::uint8_t>(s.data(), s.data() + s.length) : std::vector<std::uint8_t>{};
}

template <class Protocol>
struct cut_link_bench {
    using device = typename Protocol::device;
    using far_end = typename Protocol::far_end;
    using message = typename far_end::message_type;

    calendar& timeline;
    device a, b, cut_a, cut_b;
    link::message_bytes in_flight;
    std::size_t messages = 0;
    far_end beyond_a, beyond_b;

    /// \param prefix of its blocks' names: all of a program are built before the first one runs
    cut_link_bench(calendar& c, const std::string& prefix)
        : timeline(c),
          a((prefix + "_a").c_str()),
          b((prefix + "_b").c_str()),
          cut_a((prefix + "_cut_a").c_str()),
          cut_b((prefix + "_cut_b").c_str()),
          beyond_a((prefix + "_beyond_a").c_str(), cut_a.link, 1, [this](const message& m) { append(in_flight, m); }),
          beyond_b((prefix + "_beyond_b").c_str(), cut_b.link, 0, [this](const message& m) { append(in_flight, m); }) {
        Protocol::connect(a, b);
        Protocol::connect(cut_a, beyond_a);
        Protocol::connect(cut_b, beyond_b);
    }

    void run(ticks until) {
        while (timeline.now() < until) {
            timeline.run_until(std::min(until, (timeline.now() / flight + 1) * flight - 1));
            const auto sent = std::exchange(in_flight, {});
            for (std::size_t at = 0; at < sent.size(); ++messages) {
                message m;
                take(sent, at, m);
                REQUIRE(m.when > timeline.now());
                (m.end == 0 ? beyond_a : beyond_b).receive(m);
            }
            if (timeline.next_event_time() == never) return;
            if ((timeline.now() + 1) % flight == 0) timeline.run_until(timeline.now() + 1);
        }
    }
    void send(unsigned from_a, unsigned from_b) {
        for (unsigned i = 0; i < std::max(from_a, from_b); ++i) {
            for (auto* end : {&a, &cut_a})
                if (i < from_a) end->send(i);
            for (auto* end : {&b, &cut_b})
                if (i < from_b) end->send(1000 + i);
        }
    }
    void check_equal() const {
        for (const auto& [whole, cut] : {std::pair(&a, &cut_a), std::pair(&b, &cut_b)}) {
            REQUIRE(whole->received.size() == cut->received.size());
            for (std::size_t i = 0; i < whole->received.size(); ++i) CHECK(whole->received[i] == cut->received[i]);
            CHECK(whole->link.credit_stalls.total() == cut->link.credit_stalls.total());
            CHECK(whole->link.transmitter.packets.total() == cut->link.transmitter.packets.total());
            CHECK(whole->link.transmitter.busy.booked() == cut->link.transmitter.busy.booked());
        }
    }
};

}  // namespace fabricvp::test
