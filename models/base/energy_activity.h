// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fabricvp {

/// Counters whose events cost energy. A kind of device declares them, and the energy meter of its node prices them.
struct energy_activity {
    const char* term;     ///< what an event costs, as the energy meter calls it
    const char* within;   ///< part of the counters' paths, relative to the device
    const char* counter;  ///< what these paths end in
};

}  // namespace fabricvp
