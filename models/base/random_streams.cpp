// SPDX-License-Identifier: Apache-2.0
#include "base/random_streams.h"

namespace fabricvp {

namespace {
std::uint64_t g_seed = 1;  // as SystemC's own state, one a process
}

std::uint64_t simulation_seed() { return g_seed; }

void set_simulation_seed(std::uint64_t seed) { g_seed = seed; }

}  // namespace fabricvp
