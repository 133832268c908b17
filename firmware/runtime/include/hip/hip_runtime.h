/* SPDX-License-Identifier: Apache-2.0 */
/* For host programs in C; device code includes the header of this name in gpu/hip/include. */
#ifndef FABRICVP_HIP_RUNTIME_H
#define FABRICVP_HIP_RUNTIME_H

#include "hip/hip_runtime_api.h"

#endif
