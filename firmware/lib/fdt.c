/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fdt.h"

enum { FDT_MAGIC = 0xd00dfeed, FDT_BEGIN_NODE = 1, FDT_END_NODE = 2, FDT_PROP = 3, FDT_NOP = 4, FDT_END = 9 };

static uint32_t big_endian(const void* p) {
    const uint8_t* b = p;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

bool fdt_open(struct fdt* tree, const void* blob) {
    const uint8_t* header = blob;
    if (!blob || ((uintptr_t)blob & 3) || big_endian(header) != (uint32_t)FDT_MAGIC) return false;
    const uint32_t size = big_endian(header + 4), structure = big_endian(header + 8), strings = big_endian(header + 12);
    const uint32_t strings_size = big_endian(header + 32), structure_size = big_endian(header + 36);
    if (big_endian(header + 24) > 17 || big_endian(header + 20) < 17) return false;
    if (structure > size || structure_size > size - structure || strings > size || strings_size > size - strings)
        return false;
    tree->blob = header;
    tree->size = size;
    tree->structure = header + structure;
    tree->structure_size = structure_size & ~3u;
    tree->strings = (const char*)header + strings;
    tree->strings_size = strings_size;
    return structure_size >= 8;
}

/* The token at `at`, 0 beyond the end. */
static uint32_t token(const struct fdt* t, uint32_t at) {
    return at + 4 <= t->structure_size ? big_endian(t->structure + at) : 0;
}

/* Offset behind the token at `at` and what belongs to it; 0 if malformed. */
static uint32_t skip(const struct fdt* t, uint32_t at) {
    switch (token(t, at)) {
        case FDT_BEGIN_NODE: {
            const uint32_t room = t->structure_size - at - 4;
            const uint32_t length = (uint32_t)strnlen((const char*)t->structure + at + 4, room);
            return length < room ? at + 4 + ((length + 4) & ~3u) : 0;
        }
        case FDT_PROP: {
            if (at + 12 > t->structure_size) return 0;
            const uint32_t length = big_endian(t->structure + at + 4);
            if (length > t->structure_size - at - 12) return 0;
            return at + 12 + ((length + 3) & ~3u);
        }
        case FDT_END_NODE:
        case FDT_NOP: return at + 4;
        default: return 0;
    }
}

fdt_node fdt_root(const struct fdt* t) {
    uint32_t at = 0;
    while (token(t, at) == FDT_NOP) at += 4;
    return token(t, at) == FDT_BEGIN_NODE && skip(t, at) ? (fdt_node)at : -1;
}

/* The next BEGIN_NODE after `at`, with the change of depth on the way. */
static fdt_node next_begin(const struct fdt* t, uint32_t at, int* depth) {
    at = skip(t, at);
    while (at) {
        const uint32_t k = token(t, at);
        if (k == FDT_BEGIN_NODE) return ++*depth, skip(t, at) ? (fdt_node)at : -1;
        if (k == FDT_END_NODE) --*depth;
        at = skip(t, at);
    }
    return -1;
}

fdt_node fdt_next_node(const struct fdt* t, fdt_node node) {
    int depth = 0;
    return node < 0 ? -1 : next_begin(t, (uint32_t)node, &depth);
}

fdt_node fdt_first_child(const struct fdt* t, fdt_node parent) {
    int depth = 0;
    if (parent < 0) return -1;
    const fdt_node n = next_begin(t, (uint32_t)parent, &depth);
    return n >= 0 && depth == 1 ? n : -1;
}

fdt_node fdt_next_sibling(const struct fdt* t, fdt_node node) {
    int depth = 0;
    while (node >= 0) {
        node = next_begin(t, (uint32_t)node, &depth);
        if (node < 0 || depth < 0) return -1;
        if (depth == 0) return node;
    }
    return -1;
}

fdt_node fdt_parent(const struct fdt* t, fdt_node node) {
    fdt_node at = fdt_root(t);
    if (at == node) return -1;
    while (at >= 0) {
        fdt_node child = fdt_first_child(t, at), inside = -1;
        for (; child >= 0 && child <= node; child = fdt_next_sibling(t, child)) {
            if (child == node) return at;
            inside = child;
        }
        at = inside;
    }
    return -1;
}

const char* fdt_name(const struct fdt* t, fdt_node node) { return (const char*)t->structure + node + 4; }

/* `wanted` has no terminator; a name without unit address matches one with. */
static bool name_matches(const char* name, const char* wanted, size_t length) {
    return strncmp(name, wanted, length) == 0 && (name[length] == '\0' || name[length] == '@');
}

fdt_node fdt_find_path(const struct fdt* t, const char* path) {
    fdt_node node = fdt_root(t);
    while (node >= 0) {
        while (*path == '/') ++path;
        /* A console path may carry options: "/soc/serial@10000000:115200n8". */
        size_t length = 0;
        while (path[length] && path[length] != '/' && path[length] != ':') ++length;
        if (length == 0) return node;
        fdt_node child = fdt_first_child(t, node);
        while (child >= 0 && !name_matches(fdt_name(t, child), path, length)) child = fdt_next_sibling(t, child);
        node = child;
        path += length;
    }
    return -1;
}

const void* fdt_property(const struct fdt* t, fdt_node node, const char* name, uint32_t* size) {
    if (node < 0) return NULL;
    uint32_t at = skip(t, (uint32_t)node);
    for (; at; at = skip(t, at)) {
        const uint32_t k = token(t, at);
        if (k == FDT_NOP) continue;
        if (k != FDT_PROP || !skip(t, at)) return NULL;
        const uint32_t string = big_endian(t->structure + at + 8);
        const uint32_t room = string < t->strings_size ? t->strings_size - string : 0;
        if (strnlen(t->strings + (room ? string : 0), room) < room && strcmp(t->strings + string, name) == 0) {
            if (size) *size = big_endian(t->structure + at + 4);
            return t->structure + at + 12;
        }
    }
    return NULL;
}

const char* fdt_text(const struct fdt* t, fdt_node node, const char* name) {
    uint32_t size = 0;
    const char* text = fdt_property(t, node, name, &size);
    return text && strnlen(text, size) < size ? text : NULL;
}

uint32_t fdt_cell(const struct fdt* t, fdt_node node, const char* name, uint32_t index, uint32_t otherwise) {
    uint32_t size = 0;
    const uint8_t* cells = fdt_property(t, node, name, &size);
    return cells && index < size / 4 ? big_endian(cells + 4 * index) : otherwise;
}

bool fdt_reg(const struct fdt* t, fdt_node node, uint32_t index, uint64_t* address, uint64_t* size) {
    const fdt_node parent = fdt_parent(t, node);
    const uint32_t address_cells = fdt_cell(t, parent, "#address-cells", 0, 2);
    const uint32_t size_cells = fdt_cell(t, parent, "#size-cells", 0, 1);
    uint32_t length = 0;
    const uint8_t* cells = fdt_property(t, node, "reg", &length);
    const uint32_t entry = 4 * (address_cells + size_cells);
    if (!cells || entry == 0 || index >= length / entry) return false;
    cells += index * entry;
    *address = 0;
    *size = 0;
    for (uint32_t i = 0; i < address_cells; ++i, cells += 4) *address = *address << 32 | big_endian(cells);
    for (uint32_t i = 0; i < size_cells; ++i, cells += 4) *size = *size << 32 | big_endian(cells);
    return true;
}

static bool is_compatible(const struct fdt* t, fdt_node node, const char* compatible) {
    uint32_t size = 0;
    const char* list = fdt_property(t, node, "compatible", &size);
    while (list && size) {
        const uint32_t length = (uint32_t)strnlen(list, size);
        if (length == size) return false;
        if (strcmp(list, compatible) == 0) return true;
        list += length + 1;
        size -= length + 1;
    }
    return false;
}

fdt_node fdt_find_compatible(const struct fdt* t, fdt_node after, const char* compatible) {
    fdt_node n = after < 0 ? fdt_root(t) : fdt_next_node(t, after);
    for (; n >= 0; n = fdt_next_node(t, n)) {
        const char* status = fdt_text(t, n, "status");
        if (is_compatible(t, n, compatible) && (!status || !strcmp(status, "okay") || !strcmp(status, "ok"))) return n;
    }
    return -1;
}

fdt_node fdt_find_phandle(const struct fdt* t, uint32_t phandle) {
    for (fdt_node n = fdt_root(t); n >= 0; n = fdt_next_node(t, n))
        if (phandle && fdt_cell(t, n, "phandle", 0, 0) == phandle) return n;
    return -1;
}
