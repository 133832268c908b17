/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses as lanes, command processors and page tables see them. Plain C99. */
#ifndef FABRICVP_ABI_GPU_APERTURES_H
#define FABRICVP_ABI_GPU_APERTURES_H

/* Virtual addresses of lanes. Below 2 GiB lie fixed apertures, which the hardware rebases for each dispatch, work-group
 * or lane (so that -mcmodel=medany reaches them all); everything from GPU_GLOBAL_BASE on is translated by page tables.
 */
#define GPU_CODE_BASE 0x10000000 /* the kernel's image: dispatch-relative */
#define GPU_CODE_SIZE 0x10000000
#define GPU_LDS_BASE 0x20000000 /* local data share of the work-group */
#define GPU_LDS_SIZE 0x00010000
#define GPU_SCRATCH_BASE \
    0x30000000 /* private to each lane; its stack grows down from the end of what the kernel asked for */
#define GPU_SCRATCH_SIZE 0x00100000
#define GPU_KERNARG_BASE 0x40000000 /* the dispatch's kernel arguments, read-only */
#define GPU_KERNARG_SIZE 0x00010000
#define GPU_GLOBAL_BASE 0x80000000

/* Physical addresses, 56 bits as in an Sv48 page-table entry: bits 55…48 say where, bits 47…0 the offset there. */
#define GPU_PA_APERTURE_SHIFT 48
#define GPU_PA_OFFSET_MASK 0x0000ffffffffffff
#define GPU_PA_SYSTEM 0x00  /* bus addresses of the host, over PCIe */
#define GPU_PA_GPU0 0x01    /* memory of GPU n of this node is GPU_PA_GPU0 + n */
#define GPU_PA_VIRTUAL 0xfe /* command processor only: translated as lanes of the current address space would */
#define GPU_PA_LOCAL 0xff   /* command processor only: its memory and registers */

/* Page-table entries are those of Sv48: V, R, W, X, U, G, A, D in bits 0…7, the physical page in bits 53…10. The
 * software bits 9…8 give the memory type. */
#define GPU_PTE_VALID 0x01
#define GPU_PTE_READ 0x02
#define GPU_PTE_WRITE 0x04
#define GPU_PTE_EXECUTE 0x08
#define GPU_PTE_ACCESSED 0x40
#define GPU_PTE_DIRTY 0x80
#define GPU_PTE_TYPE_SHIFT 8
#define GPU_PTE_TYPE_CACHED 0   /* L1 caches may hold it */
#define GPU_PTE_TYPE_UNCACHED 1 /* every access goes to its point of coherence */
#define GPU_PTE_TYPE_DEVICE \
    2 /* registers: not cached either, and each lane's access arrives by itself, as wide as it is */
#define GPU_PTE_PPN_SHIFT 10
/* A leaf that is not valid but has this bit: an access to the page waits until the driver has mapped it
 * (GPU_PAGE_REQUEST). */
#define GPU_PTE_DEMAND 0x10

#endif
