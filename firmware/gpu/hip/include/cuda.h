/* SPDX-License-Identifier: Apache-2.0 */
/* For sources that include it. */
#ifndef FABRICVP_CUDA_H
#define FABRICVP_CUDA_H

#include <cuda_runtime.h>

#define CUDA_VERSION 11000      /* the API, as far as it is there */
#define CUDA_SUCCESS hipSuccess /* which programs compare with results of the run-time, too */

#endif
