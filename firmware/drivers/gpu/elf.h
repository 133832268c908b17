/* SPDX-License-Identifier: Apache-2.0 */
/* The little of ELF that loading needs (64 bits, little-endian). Every read stays inside the file. */
#ifndef FABRICVP_DRIVERS_GPU_ELF_H
#define FABRICVP_DRIVERS_GPU_ELF_H

#include "lib/libc.h"

struct elf_segment {
    uint64_t address; /* physical */
    const uint8_t* data;
    uint64_t file_bytes, memory_bytes;
};

/* The next loadable segment from program header `*index` on, which is advanced. False: there is none, or it is
 * malformed. */
bool elf_next_segment(const void* file, uint64_t bytes, unsigned* index, struct elf_segment* segment);
uint64_t elf_entry(const void* file);
/* The symbol that covers an address, NULL if there is none; and the other way round, 0 if there is none. */
const char* elf_symbol_at(const void* file, uint64_t bytes, uint64_t address, uint64_t* offset);
uint64_t elf_symbol(const void* file, uint64_t bytes, const char* name);
/* A variable: its address, or its offset among those of the section .tdata and behind it; size in bytes. \returns false
 * if there is none of that name */
bool elf_variable(const void* file, uint64_t bytes, const char* name, bool* is_thread, uint64_t* value, uint64_t* size);

/* The contents of the section of a name. \returns false if there is none, or the file is malformed */
bool elf_section(const void* file, uint64_t bytes, const char* name, const uint8_t** data, uint64_t* data_bytes);

#endif
