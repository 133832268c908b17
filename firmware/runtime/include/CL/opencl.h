/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_OPENCL_H
#define FABRICVP_OPENCL_H

#include "CL/cl.h"

#endif
