/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the kernel from giving the process addresses that are those of devices, so that none means both. A host that
 * follows a pointer to device memory gets a fault. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "lib/machine.h"
#include "runtime/compute.h"

/* Where addresses have fewer bits (Sv39), the process has none there. */
__attribute__((constructor(101))) static void keep_device_addresses(void) {
    void* const at = (void*)COMPUTE_DEVICE_ADDRESSES;
    const void* kept = mmap(at, COMPUTE_ALL_DEVICE_ADDRESSES, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (kept != at && errno != ENOMEM) panic("addresses from %p on are taken in this process", at);
}
