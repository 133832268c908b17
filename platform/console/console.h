// SPDX-License-Identifier: Apache-2.0
// One node's serial line, between the UART model and a person, a file, a socket or a script. Everything that is printed
// is kept; everything that is typed is recorded with its simulated time, so that a run can be repeated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace fabricvp {

/// Of consoles that are attached afterwards.
struct console_options {
    std::uint64_t max_file_bytes = std::uint64_t{256} << 20;  ///< a file ends there
    std::uint64_t max_kept_bytes = std::uint64_t{256} << 20;  ///< of what output() has
    bool interrupt_key = false;  ///< Ctrl-C of a terminal is the simulator's, not the guest's
};

class console {
public:
    virtual ~console() = default;

    /// All output since the start, up to the limit of the options.
    virtual const std::string& output() const = 0;
    /// Queues input; the UART takes it as fast as the line carries it.
    virtual void type(std::string_view text) = 0;
    /// Called for each byte that the guest prints, inside a calendar callback.
    virtual void on_output(std::function<void(char)> sink) = 0;
    /// "stdio", "file:PATH", "tcp:PORT" (loopback; 0: any) or "none". \throws input_error
    virtual void attach(const std::string& where) = 0;
    /// Input so far, as (simulated time, byte).
    virtual std::string recorded_input() const = 0;
    /// Types a recording at its times, and ignores what the other end types. \param name of the recording, for messages
    /// \throws input_error
    virtual void replay(const std::string& recording, const std::string& name) = 0;
    /// Loopback port of "tcp:…", 0 where there is none.
    virtual std::uint16_t port() const = 0;
    /// Before attach().
    virtual void configure(const console_options& options) = 0;
};

}  // namespace fabricvp
