// SPDX-License-Identifier: Apache-2.0
// What blocks read from their bus and write to it, in words, one line each: `fabricvp run … --log-bus hca`. It says what the
// bytes mean, which only the block knows. Costs one test while nobody asks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <systemc>

namespace fabricvp::bus_log {

namespace detail {
extern bool hca;
void line(const sc_core::sc_object& source, const std::string& text);
}  // namespace detail

/// Kinds of blocks that tell.
std::vector<std::string> kinds();
/// Has all blocks of a kind tell, or none. \returns false if there is no such kind
bool show(std::string_view kind, bool on = true);

/// Whether RDMA adapters are to tell: doorbells, work queue entries, completions.
inline bool of_hca() { return detail::hca; }

/// Where lines go: standard error, with the simulated time, unless somebody else takes them. \returns who did before
using sink = std::function<void(const std::string& source, const std::string& text)>;
sink set_sink(sink s);

/// To be called only where asked for.
template <class... Args>
void line(const sc_core::sc_object& source, fmt::format_string<Args...> format, Args&&... args) {
    detail::line(source, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace fabricvp::bus_log
