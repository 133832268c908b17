/* SPDX-License-Identifier: Apache-2.0 */
#include "hip_names.h"

#include "vector_add.cu"
