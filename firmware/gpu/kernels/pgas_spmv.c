/* SPDX-License-Identifier: Apache-2.0 */
#include "pgas_spmv.h"
#include "gpu.h"

LDS struct pgas_context context;

KERNEL(pgas_spmv, struct pgas_spmv_arguments) { pgas_spmv_run(args, &context); }
