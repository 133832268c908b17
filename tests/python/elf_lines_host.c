/* SPDX-License-Identifier: Apache-2.0 */
/* What the run-time on Linux says of lines in an image, on the build machine.
 *     elf_lines_host lines FILE ADDRESS…          "file:line" of each address, "?" where it is not known
 *     elf_lines_host corrupt FILE SEED COUNT ADDRESS…   of so many copies with wrong bytes in sections of DWARF, or cut
 * off The sanitizers look on. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/gpu/elf.h"
#include "drivers/gpu/lines.h"

static uint64_t state;

static uint64_t below(uint64_t n) { /* SplitMix64 */
    uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % n;
}

/* A wrong byte, number or length; the first bytes of a section are its header, which decides most. */
static void corrupt(uint8_t* data, uint64_t bytes) {
    static const uint8_t drastic[] = {0, 1, 5, 0x7f, 0x80, 0xff};
    const uint64_t at = below(2) ? below(bytes) : below(bytes < 64 ? bytes : 64);
    const uint64_t length = below(4) ? 1 : 1 + below(bytes - at < 16 ? bytes - at : 16);
    const uint8_t byte = below(2) ? drastic[below(sizeof drastic)] : (uint8_t)below(256);
    for (uint64_t i = 0; i < length; ++i) data[at + i] = below(4) ? byte : (uint8_t)below(256);
}

static uint64_t try_corrupted(const uint8_t* image, uint64_t bytes, uint64_t address) {
    static const char* const names[] = {".debug_line", ".debug_line_str", ".debug_str"};
    const uint64_t kept = below(8) ? bytes : below(bytes + 1);
    uint8_t* copy = malloc(kept ? kept : 1); /* of its own, so that every byte behind it is seen */
    memcpy(copy, image, kept);
    for (uint64_t n = 1 + below(6); n; --n) {
        const uint8_t* section;
        uint64_t length;
        if (below(8) == 0 && kept)
            corrupt(copy, kept);
        else if (elf_section(copy, kept, names[below(4) ? 0 : 1 + below(2)], &section, &length) && length)
            corrupt(copy + (section - copy), length);
    }
    struct gpu_line line;
    const bool known = gpu_line_at(copy, kept, address, &line);
    const uint64_t seen = known ? strlen(line.file) : 0;
    free(copy);
    return seen != 0;
}

int main(int argc, char** argv) {
    FILE* file = fopen(argv[2], "rb");
    if (!file) return 2;
    fseek(file, 0, SEEK_END);
    const uint64_t bytes = (uint64_t)ftell(file);
    uint8_t* image = malloc(bytes);
    rewind(file);
    if (fread(image, 1, bytes, file) != bytes) return 2;
    fclose(file);
    if (strcmp(argv[1], "corrupt") == 0) {
        uint64_t known = 0, count = strtoull(argv[4], NULL, 0);
        state = strtoull(argv[3], NULL, 0);
        for (uint64_t i = 0; i < count; ++i)
            known += try_corrupted(image, bytes, strtoull(argv[5 + below((uint64_t)argc - 5)], NULL, 0));
        printf("%llu\n", (unsigned long long)known);
    }
    for (int i = 3; i < argc && strcmp(argv[1], "lines") == 0; ++i) {
        struct gpu_line line;
        if (gpu_line_at(image, bytes, strtoull(argv[i], NULL, 0), &line))
            printf("%s:%llu\n", line.file, (unsigned long long)line.number);
        else
            printf("?\n");
    }
    free(image);
    return 0;
}
