// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/lane_operations.h"

#include <cstring>

namespace fabricvp::gpu {

namespace {

bool executable(const lane_operations& o) {
#if defined(__x86_64__)
    if (&o == &avx512_lane_operations)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (&o == &avx2_lane_operations)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#endif
    return true;
}

const lane_operations* const all[] = {
#if defined(__x86_64__)
    &avx512_lane_operations,
    &avx2_lane_operations,
#endif
    &baseline_lane_operations,
};

}  // namespace

const lane_operations& lane_operations::best() {
    static const lane_operations& chosen = [&]() -> const lane_operations& {
        for (const auto* o : all)
            if (executable(*o)) return *o;
        return baseline_lane_operations;
    }();
    return chosen;
}

const lane_operations* lane_operations::by_name(const char* name) {
    for (const auto* o : all)
        if (std::strcmp(o->name, name) == 0 && executable(*o)) return o;
    return nullptr;
}

}  // namespace fabricvp::gpu
