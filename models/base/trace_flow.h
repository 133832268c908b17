// SPDX-License-Identifier: Apache-2.0
// What belongs together in a trace although it is shown on many tracks, of several nodes perhaps: arrows from slice to
// slice. span_recorder draws them for accesses that more than one node has a part in, so messages need `--spans` beside
// `--trace`.
//
// A message begins with a doorbell, which is a store of another block, and ends with a completion that is found
// by polling. A hart that stores to registers of devices notes it, and the device notes what has arrived where the
// message's first span begins; so the arrows begin at the store. The device notes where it writes the completion, and
// the memory there calls that its own when it has come; so the arrows end with the first load that brings it. To be
// called only while trace::on().
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <systemc>

#include "base/time.h"
#include "base/trace.h"

namespace fabricvp::trace {

/// A slice that has been shown before, or is to be.
struct step {
    const sc_core::sc_object* track;
    ticks begin, end;
    std::string_view name;
};

namespace detail {
/// One end of an arrow, at the begin of a slice. \param phase s, t, f: first, next, last \returns whether it is shown
bool arrow(const step& s, std::string_view name, std::uint64_t number, char phase);
void clear_flows();
}  // namespace detail

/// Joins slices in the order of their begins, with the store that began it all if one was noted.
void flow(std::vector<step> steps, std::string_view name);

/// `from` stores 8 bytes to bus address `bus` of its node.
void note_store(const sc_core::sc_object& from, std::uint64_t bus, std::uint64_t value, ticks begin, ticks end);
/// Such a store has arrived at a device; what has a slice of `at` that begins now follows from it.
void note_arrival(const sc_core::sc_object& at, std::uint64_t bus, std::uint64_t value, ticks now);

/// `from` sends these 8 bytes to a bus address of its node as the result of what ends in its node now; flow() with that
/// comes later.
void note_result(const sc_core::sc_object& from, std::uint64_t bus, std::uint64_t value, ticks now);
/// Whether results are being waited for.
bool has_pending_results();
/// A write to bus address `bus` has come to memory that `memory` knows as `own`: a result in it is looked for there.
void note_result_written(const sc_core::sc_object& memory, std::uint64_t bus, std::uint64_t own, std::uint64_t bytes);
/// `by` has loaded 64 bytes from address `line` of `memory`; null: a bus address of its node. \param valid bit n: byte
/// n
void note_load(const sc_core::sc_object& by, const sc_core::sc_object* memory, std::uint64_t line,
               const std::uint8_t* data, std::uint64_t valid, ticks begin, ticks end);

}  // namespace fabricvp::trace
