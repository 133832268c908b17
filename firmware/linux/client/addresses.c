/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of devices in a process of Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/machine.h"
#include "linux/client/client.h"
#include "runtime/compute.h"

/* Keeps the kernel from giving the process addresses that are those of devices, so that none means both. A host that
 * follows a pointer to device memory gets a fault. Where addresses have fewer bits (Sv39), the process has none there.
 */
__attribute__((constructor(101))) static void keep_device_addresses(void) {
    void* const at = (void*)COMPUTE_DEVICE_ADDRESSES;
    const void* kept = mmap(at, COMPUTE_ALL_DEVICE_ADDRESSES, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (kept != at && errno != ENOMEM) panic("addresses from %p on are taken in this process", at);
    /* Nor does the program's memory share them with the kernel's own pages, above the first mapping. */
    mmap(NULL, HOST_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Mappings of devices share no huge page's worth of addresses with the program's memory, so that this can be moved to a
 * huge page. */
void* client_map(int file, size_t bytes) {
    const size_t whole = (bytes + HOST_PAGE - 1) & ~(size_t)(HOST_PAGE - 1);
    void* kept = mmap(NULL, whole + HOST_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (kept == MAP_FAILED) return NULL;
    void* at = (void*)(((uintptr_t)kept + HOST_PAGE - 1) & ~(uintptr_t)(HOST_PAGE - 1));
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == at ? at : NULL;
}

/* Programs that read a little beyond their arrays get away with it where a GPU's pages are large: so they do with
 * FABRICVP_MARGIN, in bytes, at most 1 MiB. */
uint64_t compute_margin(void) {
    static uint64_t margin;
    static bool known;
    if (known) return margin;
    const char* text = getenv("FABRICVP_MARGIN");
    char* end = NULL;
    const unsigned long bytes = text ? strtoul(text, &end, 10) : 0;
    if (text && (*end || end == text || *text == '-' || bytes > 1 << 20))
        panic("FABRICVP_MARGIN=%s: must be bytes from 0 to 1048576", text);
    known = true;
    return margin = (bytes + GPU_PAGE - 1) & ~(uint64_t)(GPU_PAGE - 1);
}
