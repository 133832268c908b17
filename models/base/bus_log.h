// SPDX-License-Identifier: Apache-2.0
// What blocks read from their bus and write to it, in words, one line each: `fabricvp run … --log-bus hca`. It says
// what the bytes mean, which only the block knows. Costs one test while it is off.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <systemc>

namespace fabricvp::bus_log {

/// What a line is about.
struct subject {
    std::optional<std::uint64_t> queue;  ///< number of the queue, or of the queue pair
    bool error = false;                  ///< something failed, or was dropped
};

/// Which lines are wanted; all unless something is given.
struct filter {
    std::optional<std::uint64_t> queue;
    bool errors = false;      ///< only errors
    std::string block = "*";  ///< glob over names of blocks
};

/// Log of blocks of one kind, if it is on: one global object of each kind, in its own module.
class channel {
public:
    /// \param kind as the user asks for it \param unit what its filter by number is called: "queue", "qp"
    channel(const char* kind, const char* unit);
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;

    /// Whether they are to tell.
    bool open() const { return m_open; }
    /// To be called only while open.
    template <class... Args>
    void line(const sc_core::sc_object& source, const subject& about, fmt::format_string<Args...> format,
              Args&&... args) {
        if (wants(source, about)) write(source, fmt::format(format, std::forward<Args>(args)...));
    }

    const char* kind() const { return m_kind; }
    const char* unit() const { return m_unit; }
    const filter& wanted() const { return m_filter; }
    std::uint64_t lines() const { return m_lines; }
    /// Numbers that lines were about, wanted or not.
    const std::set<std::uint64_t>& seen() const { return m_seen; }

private:
    friend bool show(std::string_view kind, bool on, filter wanted);
    bool wants(const sc_core::sc_object& source, const subject& about);
    void write(const sc_core::sc_object& source, const std::string& text);

    const char* m_kind;
    const char* m_unit;
    bool m_open = false;
    filter m_filter;
    std::uint64_t m_lines = 0;
    std::set<std::uint64_t> m_seen;
};

/// Kinds of blocks that tell, by name.
std::vector<std::string> kinds();
/// The channel of a kind; nullptr if there is no such kind.
const channel* find(std::string_view kind);
/// Has all blocks of a kind tell, or none. \returns false if there is no such kind
bool show(std::string_view kind, bool on = true, filter wanted = {});

/// Where lines go: standard error, with the simulated time, unless another function takes them. \returns the one before
using sink = std::function<void(const std::string& source, const std::string& text)>;
sink set_sink(sink s);

}  // namespace fabricvp::bus_log
