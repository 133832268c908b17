// SPDX-License-Identifier: Apache-2.0
// A trace for https://ui.perfetto.dev (Chrome's JSON trace-event format): one track for each SystemC object that shows
// something, named by its hierarchical name. Models call
//
//     trace::slice(*this, "walk", begin, end);
//
// which costs one test while no trace is recorded. A trace is windowed in simulated time, filtered by name, capped in
// size, and warns when it would be empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <systemc>

#include "base/time.h"

namespace fabricvp::trace {

struct options {
    std::string path;
    ticks from = 0;    ///< first tick of the window
    ticks to = never;  ///< end of the window, exclusive
    /// Not empty: only while software has a region with this label open, in place of the window.
    std::string region = {};
    std::string filter =
        "*";  ///< glob over hierarchical names: `*` any text, `?` one character, `[…]`, commas between several
    std::uint64_t max_bytes =
        256 << 20;  ///< size of the file; recording ends with a marker event before it grows larger
};

struct summary {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    bool capped = false;  ///< the size limit ended it early
    std::string warning;  ///< why it is empty or incomplete; also logged
};

/// Starts recording into a file. \throws std::runtime_error if one is being recorded or the file cannot be written,
/// std::invalid_argument if the window is empty or the size below 4 KiB.
void start(const options& o);
/// Ends recording and completes the file; without a running trace it does nothing.
summary stop();

/// Which access a slice belongs to; shown as its arguments `access` and `address`.
struct access {
    std::uint64_t number;
    std::uint64_t address;
};

namespace detail {
extern bool active;
void slice(const sc_core::sc_object& track, std::string_view name, ticks begin, ticks end, const access* of);
void instant(const sc_core::sc_object& track, std::string_view name, ticks at);
void counter(const sc_core::sc_object& track, std::string_view name, ticks at, double value);
}  // namespace detail

inline bool on() { return detail::active; }

/// Software of the node with this marker device has begun a region. One marker has one region open at a time.
void region_begins(const sc_core::sc_object& marker, std::string_view label, ticks at);
/// It has ended it, or its node was reset.
void region_ends(const sc_core::sc_object& marker, ticks at);

/// Something lasted from `begin` to `end`; to be called when the end is known. Slices that overlap on one track are
/// shown in lanes below each other.
inline void slice(const sc_core::sc_object& track, std::string_view name, ticks begin, ticks end) {
    if (on()) detail::slice(track, name, begin, end, nullptr);
}
inline void slice(const sc_core::sc_object& track, std::string_view name, ticks begin, ticks end, const access& of) {
    if (on()) detail::slice(track, name, begin, end, &of);
}
inline void instant(const sc_core::sc_object& track, std::string_view name, ticks at) {
    if (on()) detail::instant(track, name, at);
}
/// A quantity that keeps its value until the next call.
inline void counter(const sc_core::sc_object& track, std::string_view name, ticks at, double value) {
    if (on()) detail::counter(track, name, at, value);
}

}  // namespace fabricvp::trace
