/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory in the address space of the process, where the module peer_memory (firmware/linux/module) is loaded: a
 * pointer to it then means the same to GPU and host, and the kernel pins what it points to for other devices, as
 * ibv_reg_mr() asks. Without the module the addresses stay reserved. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "drivers/gpu/shared.h"
#include "lib/machine.h"
#include "linux/client/client.h"

/* Bytes from `at` on, at most `bytes`, that lie behind each other in one GPU's memory. */
static uint64_t contiguous(const struct gpu_node* node, gpu_address at, uint64_t bytes) {
    const uint64_t physical = gpu_physical(node, at);
    uint64_t length = GPU_PAGE;
    while (length < bytes && gpu_physical(node, at + length) == physical + length) length += GPU_PAGE;
    return length;
}

void gpu_shared_map(const struct gpu_node* node, gpu_address at, uint64_t bytes) {
    for (uint64_t length; bytes; at += length, bytes -= length) {
        const uint64_t physical = gpu_physical(node, at);
        const int file = client_pages(gpu_owner(node, physical));
        if (file < 0) return;
        length = contiguous(node, at, bytes);
        if (mmap((void*)at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                 (off_t)(physical & GPU_PA_OFFSET_MASK)) != (void*)at)
            panic("device memory at 0x%lx cannot be mapped into the process", at);
    }
}

void gpu_shared_unmap(const struct gpu* g, gpu_address at, uint64_t bytes) {
    if (client_pages(g) < 0) return;
    if (mmap((void*)at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != (void*)at)
        panic("device memory at 0x%lx cannot be unmapped from the process", at);
}
