/* SPDX-License-Identifier: Apache-2.0 */
#include <hip/hip_runtime_api.h>

#include "several.h"

int count_devices(void) {
    int count = 0;
    return hipGetDeviceCount(&count) ? -1 : count;
}
