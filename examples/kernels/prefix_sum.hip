// SPDX-License-Identifier: Apache-2.0
// Device code in HIP reads as in CUDA.
#include "prefix_sum.cu"
