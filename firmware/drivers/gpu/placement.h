/* SPDX-License-Identifier: Apache-2.0 */
/* Where the pages of a buffer go when a node has several GPUs. */
#ifndef FABRICVP_DRIVERS_GPU_PLACEMENT_H
#define FABRICVP_DRIVERS_GPU_PLACEMENT_H

#include "drivers/gpu/gpu.h"

/* What a kernel does with a buffer, as an analysis of its index expressions would find: the rows of LASP's table. */
enum gpu_locality {
    GPU_UNCLASSIFIED, /* each thread its own part, or nothing known: contiguous chunks */
    GPU_STRIDED, /* all GPUs go through it together, `pitch` bytes apart: interleaved by ⌈pitch ÷ GPUs⌉, whole pages */
    GPU_BY_ROWS,   /* rows of `pitch` bytes: as many on each GPU */
    GPU_BY_COLUMNS /* each row is cut into one piece a GPU, in whole pages; rows shorter than a page a GPU: as
                      GPU_STRIDED */
};
struct gpu_layout {
    enum gpu_locality locality;
    uint64_t pitch;
    uint64_t page; /* bytes; gpu_allocate_by() chooses them */
};

/* What follows from a row of LADM's table (MICRO 2020, Table II), 1 to 7; 0: as 7. */
enum gpu_locality gpu_locality_of_row(unsigned row);
enum gpu_binding gpu_binding_of_row(unsigned row);
/* Work-groups that touch what one GPU holds of a strided buffer before the next one's part begins, if each makes use of
 * `datablock` bytes (0: of a page). */
uint32_t gpu_batch_of(const struct gpu_node* node, uint64_t bytes, uint64_t stride, uint32_t datablock);

enum gpu_placement_policy {
    GPU_PLACE_CONTIGUOUS,
    GPU_PLACE_INTERLEAVED,
    GPU_PLACE_LASP,
    GPU_PLACE_FIRST_TOUCH,
    GPU_PLACE_FIRST_TOUCH_RECORDED
};
/* \returns false if there is no such policy: contiguous, interleaved, lasp, first_touch, first_touch_recorded */
bool gpu_placement_named(const char* name, enum gpu_placement_policy* policy);

/* A gpu_placement; its context is a struct gpu_layout. */
unsigned gpu_place_lasp(const struct gpu_node* node, uint64_t page, uint64_t pages, void* layout);
/* Pages have the size that the GPUs ask for (GPU_PAGE_SIZE), but 4 KiB where the buffer would fill fewer large ones
 * than there are GPUs. */
gpu_address gpu_allocate_by(struct gpu_node* node, uint64_t bytes, enum gpu_placement_policy policy,
                            struct gpu_layout layout);

/* ---- first touch ---- */

/* Unmaps all pages of buffers with that policy. Kernels must not run. */
void gpu_unmap_first_touch(struct gpu_node* node);
/* Records which GPU has got which page. Buffers that are allocated from now on with GPU_PLACE_FIRST_TOUCH_RECORDED, in
 * the same order and as large, get their pages from there at once; what comes after them is cut into contiguous chunks.
 */
void gpu_record_first_touch(struct gpu_node* node);
/* Maps the pages that GPUs have asked for, to each the block (GPU_MIGRATION_SIZE) that it touched first. To be called
 * while kernels run. */
void gpu_handle_page_requests(struct gpu_node* node);

#endif
