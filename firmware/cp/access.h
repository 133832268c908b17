/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the users of queues name may not be there: these accesses say so instead of trapping. Addresses are
 * virtual, those of the address space that the hart has selected. Each \returns 0, or the enum gpu_fault that stopped
 * it. */
#ifndef FABRICVP_CP_ACCESS_H
#define FABRICVP_CP_ACCESS_H

#include <stdint.h>

/* The address space of this hart from now on. */
void virtual_select(unsigned hart, uint32_t space);
uint32_t virtual_load(uint64_t from, uint64_t* to, unsigned doublewords);
uint32_t virtual_store(uint64_t to, uint64_t value);
uint32_t virtual_store16(uint64_t to, uint16_t value);
/* Atomically, at the memory's point of coherence. */
uint32_t virtual_add(uint64_t to, int64_t addend);
uint32_t virtual_copy(uint64_t to, uint64_t from, uint64_t bytes);

#endif
