/* SPDX-License-Identifier: Apache-2.0 */
/* For sources that include it. */
#include <cuda_runtime.h>
