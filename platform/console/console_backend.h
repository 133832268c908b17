// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "platform/console/console.h"

namespace fabricvp {

/// The far end of a serial line. Nothing here blocks.
class console_backend {
public:
    virtual ~console_backend() = default;
    virtual void write(std::string_view text) = 0;
    /// Moves data; returns what arrived since the last call, if there is room for it.
    virtual std::string poll(bool room = true) = 0;
    /// Whether what arrives was written before the guest asked for it: a file or a pipe, not a person.
    virtual bool is_piped() const { return false; }
    /// True if a person or program may type later, so that an idle machine is worth waiting for.
    virtual bool may_type() const = 0;
    /// True once the person asked to leave.
    virtual bool wants_quit() const { return false; }
    /// No more is written. \throws input_error if something could not be
    virtual void close() {}
    /// In a forked child: clears what is not sent yet, and leaves terminal and connections to the parent.
    virtual void abandon() {}
    /// Loopback port, 0 where there is none.
    virtual std::uint16_t port() const { return 0; }
};

/// "stdio", "file:PATH", "tcp:PORT" or "none" (null). `so_far` is what the guest printed already. \throws input_error
std::unique_ptr<console_backend> make_console_backend(const std::string& where, const std::string& so_far,
                                                      const console_options& options);

}  // namespace fabricvp
