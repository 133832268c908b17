// SPDX-License-Identifier: Apache-2.0
// For every host.
#include <cstring>

#include "gpu/lanes/lane_operations.h"
#include "riscv/float_semantics.h"

#define LANES_NAME baseline_lane_operations
#define LANES_TEXT "baseline"
#define LANES_FMA 0
#include "gpu/lanes/lane_rows.inc"
