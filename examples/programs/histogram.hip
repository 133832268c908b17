/* SPDX-License-Identifier: Apache-2.0 */
#include "hip_names.h"

#include "histogram.cu"
