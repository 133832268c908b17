// SPDX-License-Identifier: Apache-2.0
// How events of a trace stand in a file: as Chrome's JSON, or as Perfetto's protobuf messages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/trace.h"

namespace fabricvp::trace {

/// Makes bytes of events, which stand in the file one behind the other. Tracks have numbers from 1 on, and are named
/// before they are used.
class format {
public:
    virtual ~format() = default;
    /// What a file begins with.
    virtual std::string head() const = 0;
    virtual std::string track(unsigned number, std::string_view name) = 0;
    virtual std::string slice(unsigned track, std::string_view name, ticks begin, ticks end, const access* of) = 0;
    /// \param track 0: of the whole trace
    virtual std::string instant(unsigned track, std::string_view name, ticks at) = 0;
    virtual std::string counter(std::string_view name, ticks at, double value) = 0;
    /// One end of an arrow. \param phase s, t, f: first, next, last
    virtual std::string arrow(unsigned track, std::string_view name, ticks at, std::uint64_t number, char phase) = 0;
    /// Events as they go to the file, many at a time; never longer by more than `packing` bytes.
    virtual std::string packed(std::string events) const { return events; }
    static constexpr std::size_t packing = 128;
    /// What a file ends with.
    virtual std::string tail() const = 0;
};

/// Chrome's JSON trace-event format.
std::unique_ptr<format> json_format();
/// Perfetto's protobuf messages, compressed. Times are whole nanoseconds, rounded down, as the viewer's are.
/// \param rank of several processes that simulate one machine, whose files are one trace when joined end to end; with
/// -1 there is one
std::unique_ptr<format> perfetto_format(int rank = -1);

/// Starts recording in a format; trace::start() records JSON. Raises as that.
void start(const options& o, std::unique_ptr<format> as);
constexpr std::uint64_t smallest_file = 4096;  ///< bytes that options::max_bytes is at least
/// Whether what happens at that time is recorded: a trace is, and its window, or its region, is open then.
bool records(ticks at);

}  // namespace fabricvp::trace
