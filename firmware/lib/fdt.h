/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of flattened device trees (Devicetree Specification 0.4, chapter 5). Nodes are offsets into the structure
 * block; negative offsets mean "none". Every read stays inside the blob. */
#ifndef FABRICVP_LIB_FDT_H
#define FABRICVP_LIB_FDT_H

#include "lib/libc.h"

typedef int fdt_node;

struct fdt {
    const uint8_t* structure;
    uint32_t structure_size;
    const char* strings;
    uint32_t strings_size;
    const uint8_t* blob;
    uint32_t size;
};

/* False if this is no device tree of version 16 or later. */
bool fdt_open(struct fdt* tree, const void* blob);

fdt_node fdt_root(const struct fdt* tree);
/* Child nodes, in order. */
fdt_node fdt_first_child(const struct fdt* tree, fdt_node parent);
fdt_node fdt_next_sibling(const struct fdt* tree, fdt_node node);
/* Depth-first walk over all nodes; start with fdt_root(). */
fdt_node fdt_next_node(const struct fdt* tree, fdt_node node);
fdt_node fdt_parent(const struct fdt* tree, fdt_node node);
const char* fdt_name(const struct fdt* tree, fdt_node node);

/* "/soc/serial@10000000"; unit addresses may be left out. */
fdt_node fdt_find_path(const struct fdt* tree, const char* path);
/* Nodes one of whose compatible strings is this one, that are not disabled. `after` < 0: the first. */
fdt_node fdt_find_compatible(const struct fdt* tree, fdt_node after, const char* compatible);
fdt_node fdt_find_phandle(const struct fdt* tree, uint32_t phandle);

/* NULL if absent; `size` may be NULL. */
const void* fdt_property(const struct fdt* tree, fdt_node node, const char* name, uint32_t* size);
const char* fdt_text(const struct fdt* tree, fdt_node node, const char* name);
/* Big-endian cell `index` of a property, or `otherwise`. */
uint32_t fdt_cell(const struct fdt* tree, fdt_node node, const char* name, uint32_t index, uint32_t otherwise);
/* Entry `index` of reg, in the parent's cells. */
bool fdt_reg(const struct fdt* tree, fdt_node node, uint32_t index, uint64_t* address, uint64_t* size);

#endif
