// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/statistics.h"
#include "host/register_target.h"

namespace fabricvp::host {

/// SiFive test finisher. The guest's wish is carried out by the run control.
class finisher final : public register_target {
public:
    device_register command;
    counter unknown_commands{*this, "unknown_commands", "1", "commands that mean nothing, and were ignored"};

    /// The guest powers off; status 0 is a clean end, others are its failure code.
    std::function<void(int status)> on_power_off;
    /// The guest wants the machine reset.
    std::function<void()> on_reset;

    explicit finisher(const sc_core::sc_module_name& name);

private:
    void execute(std::uint64_t written);
};

}  // namespace fabricvp::host
