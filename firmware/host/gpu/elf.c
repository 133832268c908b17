/* SPDX-License-Identifier: Apache-2.0 */
#include "host/gpu/elf.h"

enum { HEADER_BYTES = 64, PROGRAM_HEADER_BYTES = 56, LOADABLE = 1 };

static uint64_t word(const void* at, unsigned bytes) {
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

uint64_t elf_entry(const void* file) { return word((const uint8_t*)file + 24, 8); }

bool elf_next_segment(const void* file, uint64_t bytes, unsigned* index, struct elf_segment* segment) {
    const uint8_t* f = file;
    if (bytes < HEADER_BYTES || memcmp(f, "\177ELF\2\1", 6) != 0) return false;
    const uint64_t table = word(f + 32, 8);
    const unsigned count = (unsigned)word(f + 56, 2);
    while (*index < count) {
        const uint64_t at = table + (uint64_t)PROGRAM_HEADER_BYTES * (*index)++;
        if (at > bytes || bytes - at < PROGRAM_HEADER_BYTES) return false;
        const uint8_t* h = f + at;
        if (word(h, 4) != LOADABLE) continue;
        const uint64_t offset = word(h + 8, 8);
        segment->address = word(h + 24, 8);
        segment->file_bytes = word(h + 32, 8);
        segment->memory_bytes = word(h + 40, 8);
        if (offset > bytes || segment->file_bytes > bytes - offset || segment->memory_bytes < segment->file_bytes) return false;
        segment->data = f + offset;
        return true;
    }
    return false;
}
