// SPDX-License-Identifier: Apache-2.0
// What blocks read from their bus and write to it, in words, one line each: `fabricvp run … --log-bus hca`. It says
// what the bytes mean, which only the block knows. Costs one test while it is off.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <systemc>

namespace fabricvp::bus_log {

/// Log of blocks of one kind, if it is on: one global object of each kind, in its own module.
class channel {
public:
    explicit channel(const char* kind);
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;

    /// Whether they are to tell.
    bool open() const { return m_open; }
    /// To be called only while open.
    template <class... Args>
    void line(const sc_core::sc_object& source, fmt::format_string<Args...> format, Args&&... args) const {
        write(source, fmt::format(format, std::forward<Args>(args)...));
    }

private:
    friend bool show(std::string_view kind, bool on);
    friend std::vector<std::string> kinds();
    static void write(const sc_core::sc_object& source, const std::string& text);

    const char* m_kind;
    bool m_open = false;
};

/// Kinds of blocks that tell, by name.
std::vector<std::string> kinds();
/// Has all blocks of a kind tell, or none. \returns false if there is no such kind
bool show(std::string_view kind, bool on = true);

/// Where lines go: standard error, with the simulated time, unless another function takes them. \returns the one before
using sink = std::function<void(const std::string& source, const std::string& text)>;
sink set_sink(sink s);

}  // namespace fabricvp::bus_log
