// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

#include "platform/platform.h"

namespace fabricvp::cli {

/// Makes Ctrl-C, SIGTERM and the end of the terminal (SIGHUP) end the run in order, for its lifetime.
class signal_scope {
public:
    explicit signal_scope(platform& p);
    ~signal_scope();
    /// Whether one has come.
    static bool seen();

private:
    struct sigaction m_interrupt {
    }, m_terminate{}, m_hang_up{};
};

}  // namespace fabricvp::cli
