/* SPDX-License-Identifier: Apache-2.0 */
#include "pgas_hash.h"
#include "gpu.h"

LDS struct pgas_context context;
LDS struct pgas_coalesced_requests together;

KERNEL(pgas_hash, struct pgas_hash_arguments) { pgas_hash_run(args, &context, &together); }
