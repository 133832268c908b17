// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

#include "platform/platform.h"

namespace fabricvp::cli {

/// Makes Ctrl-C, SIGTERM, the end of the terminal (SIGHUP) and of processor time (SIGXCPU) end the run in order, for
/// its lifetime.
class signal_scope {
public:
    explicit signal_scope(platform& p);
    ~signal_scope();
    /// Whether one has come.
    static bool seen();

private:
    struct sigaction m_interrupt {
    }, m_terminate{}, m_hang_up{}, m_processor_time{};
};

}  // namespace fabricvp::cli
