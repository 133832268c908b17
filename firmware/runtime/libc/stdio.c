/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams of picolibc: output goes to the console. Files are those that were linked in, for reading. */
#include <stdio.h>

#include "drivers/gpu/images.h"
#include "lib/console.h"
#include "lib/heap.h"

static int put(char c, FILE* file) {
    (void)file;
    console_putc(c);
    return c;
}

static int get(FILE* file) {
    (void)file;
    int c;
    while ((c = console_getc()) < 0) __asm__ volatile("pause");
    return c;
}

static FILE console = FDEV_SETUP_STREAM(put, get, NULL, _FDEV_SETUP_RW);
FILE* const stdin = &console;
FILE* const stdout = &console;
FILE* const stderr = &console;

struct linked_file {
    FILE file;
    const struct image* image;
    uint64_t at;
};

static int get_byte(FILE* file) {
    struct linked_file* f = (struct linked_file*)file;
    return f->at < f->image->bytes ? ((const uint8_t*)f->image->start)[f->at++] : _FDEV_EOF;
}

/* "path/name.elf" is the image "name". */
FILE* fopen(const char* path, const char* mode) {
    const char* name = path;
    for (const char* c = path; *c; ++c)
        if (*c == '/') name = c + 1;
    size_t length = 0;
    while (name[length] && name[length] != '.') ++length;
    for (const struct image* i = images; i->name && mode[0] == 'r'; ++i) {
        if (strlen(i->name) != length || memcmp(i->name, name, length) != 0) continue;
        struct linked_file* f = heap_allocate(sizeof *f);
        if (f) *f = (struct linked_file){FDEV_SETUP_STREAM(NULL, get_byte, NULL, _FDEV_SETUP_READ), i, 0};
        return (FILE*)f;
    }
    return NULL;
}

int fclose(FILE* file) {
    if (file != &console) heap_free(file);
    return 0;
}

size_t fread(void* to, size_t size, size_t count, FILE* file) {
    uint8_t* bytes = to;
    if (file == &console) {
        for (size_t i = 0; i < size * count; ++i) bytes[i] = (uint8_t)get(file);
        return count;
    }
    struct linked_file* f = (struct linked_file*)file;
    const uint64_t rest = f->image->bytes - f->at, whole = size ? rest / size : 0, n = count < whole ? count : whole;
    memcpy(to, (const uint8_t*)f->image->start + f->at, n * size);
    f->at += n * size;
    return n;
}

int fseek(FILE* file, long offset, int whence) {
    struct linked_file* f = (struct linked_file*)file;
    if (file == &console) return -1;
    const uint64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? f->at : f->image->bytes;
    if (from + (uint64_t)offset > f->image->bytes) return -1;
    f->at = from + (uint64_t)offset;
    return 0;
}

long ftell(FILE* file) { return file == &console ? -1 : (long)((struct linked_file*)file)->at; }

void rewind(FILE* file) { fseek(file, 0, SEEK_SET); }
