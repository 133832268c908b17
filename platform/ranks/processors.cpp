// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/processors.h"

#include <sched.h>

namespace fabricvp::ranks {

std::vector<int> usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return {};  // more than a set holds
    std::vector<int> numbers;
    for (int n = 0; n < CPU_SETSIZE; ++n)
        if (CPU_ISSET(n, &set)) numbers.push_back(n);
    return numbers;
}

}  // namespace fabricvp::ranks
