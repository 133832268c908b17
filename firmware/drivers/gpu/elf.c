/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/gpu/elf.h"

enum { HEADER_BYTES = 64, PROGRAM_HEADER_BYTES = 56, LOADABLE = 1 };
enum { SECTION_HEADER_BYTES = 64, SYMBOL_BYTES = 24, SYMBOL_TABLE = 2, NO_BITS = 8 };
enum { OBJECT = 1, FUNCTION = 2, THREAD = 6 }; /* kinds of symbols */

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
        if (offset > bytes || segment->file_bytes > bytes - offset || segment->memory_bytes < segment->file_bytes)
            return false;
        segment->data = f + offset;
        return true;
    }
    return false;
}

/* ---- symbols ---- */

struct symbols {
    const uint8_t* table;
    uint64_t count;
    const char* names;
    uint64_t names_bytes;
};

static bool section(const uint8_t* file, uint64_t bytes, uint64_t index, uint64_t* type, uint64_t* link,
                    uint64_t* offset, uint64_t* size) {
    const uint64_t at = word(file + 40, 8) + index * SECTION_HEADER_BYTES;
    if (index >= word(file + 60, 2) || at > bytes || bytes - at < SECTION_HEADER_BYTES) return false;
    *type = word(file + at + 4, 4);
    *link = word(file + at + 40, 4);
    *offset = word(file + at + 24, 8);
    *size = word(file + at + 32, 8);
    return *offset <= bytes && *size <= bytes - *offset;
}

static bool find_symbols(const uint8_t* file, uint64_t bytes, struct symbols* found) {
    uint64_t type, link, offset, size, ignored;
    if (bytes < HEADER_BYTES || memcmp(file, "\177ELF\2\1", 6) != 0) return false;
    for (uint64_t i = 0; i < word(file + 60, 2); ++i) {
        if (!section(file, bytes, i, &type, &link, &offset, &size) || type != SYMBOL_TABLE) continue;
        found->table = file + offset;
        found->count = size / SYMBOL_BYTES;
        if (!section(file, bytes, link, &type, &ignored, &offset, &size)) return false;
        found->names = (const char*)file + offset;
        found->names_bytes = size;
        return size && !found->names[size - 1];
    }
    return false;
}

static const char* name_of(const struct symbols* s, const uint8_t* symbol) {
    const uint64_t name = word(symbol, 4);
    return name < s->names_bytes ? s->names + name : "";
}

const char* elf_symbol_at(const void* file, uint64_t bytes, uint64_t address, uint64_t* offset) {
    struct symbols s;
    if (!find_symbols(file, bytes, &s)) return NULL;
    for (uint64_t i = 0; i < s.count; ++i) {
        const uint8_t* symbol = s.table + i * SYMBOL_BYTES;
        const uint64_t value = word(symbol + 8, 8);
        if ((symbol[4] & 0xf) != FUNCTION || address < value || address - value >= word(symbol + 16, 8)) continue;
        *offset = address - value;
        return name_of(&s, symbol);
    }
    return NULL;
}

uint64_t elf_symbol(const void* file, uint64_t bytes, const char* name) {
    struct symbols s;
    if (!find_symbols(file, bytes, &s)) return 0;
    for (uint64_t i = 0; i < s.count; ++i)
        if (strcmp(name_of(&s, s.table + i * SYMBOL_BYTES), name) == 0) return word(s.table + i * SYMBOL_BYTES + 8, 8);
    return 0;
}

bool elf_variable(const void* file, uint64_t bytes, const char* name, bool* is_thread, uint64_t* value,
                  uint64_t* size) {
    struct symbols s;
    if (!find_symbols(file, bytes, &s)) return false;
    for (uint64_t i = 0; i < s.count; ++i) {
        const uint8_t* symbol = s.table + i * SYMBOL_BYTES;
        const unsigned kind = symbol[4] & 0xf;
        if ((kind != OBJECT && kind != THREAD) || strcmp(name_of(&s, symbol), name) != 0) continue;
        *is_thread = kind == THREAD;
        *value = word(symbol + 8, 8);
        *size = word(symbol + 16, 8);
        return true;
    }
    return false;
}

bool elf_section(const void* file, uint64_t bytes, const char* name, const uint8_t** data, uint64_t* data_bytes) {
    const uint8_t* f = file;
    uint64_t type, link, names, names_bytes, offset, size;
    if (bytes < HEADER_BYTES || memcmp(f, "\177ELF\2\1", 6) != 0) return false;
    if (!section(f, bytes, word(f + 62, 2), &type, &link, &names, &names_bytes)) return false;
    if (!names_bytes || f[names + names_bytes - 1]) return false;
    for (uint64_t i = 0; section(f, bytes, i, &type, &link, &offset, &size) || i < word(f + 60, 2); ++i) {
        const uint64_t at = word(f + 40, 8) + i * SECTION_HEADER_BYTES;
        if (at > bytes || bytes - at < SECTION_HEADER_BYTES) return false;
        const uint64_t own = word(f + at, 4);
        if (own >= names_bytes || strcmp((const char*)f + names + own, name) != 0) continue;
        if (type == NO_BITS || offset > bytes || size > bytes - offset) return false;
        *data = f + offset;
        *data_bytes = size;
        return true;
    }
    return false;
}
