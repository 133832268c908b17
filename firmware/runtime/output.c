/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels have printed: records in the buffer of their program, which the compiler has their calls of printf()
 * make (python/fabricvp/compiler/output.py). Each has its size, its format, types of its arguments ("i4 f8 p8"), and
 * these, in 8 bytes each. */
#include <stdio.h>
#include <string.h>

#include "drivers/gpu/elf.h"
#include "lib/heap.h"
#include "runtime/compute.h"

enum { BUFFER_BYTES = 1 << 20, HEAD_BYTES = 24, MAX_TEXT = 512 };
static const char assertion = 2; /* begins the text of assert() */

/* A string of the program, NULL if it lies elsewhere. */
static const char* string_at(const struct compute_program* p, uint64_t address) {
    struct elf_segment s;
    for (unsigned i = 0; elf_next_segment(p->elf, p->elf_bytes, &i, &s);)
        if (address >= s.address && address - s.address < s.file_bytes) {
            const char* text = (const char*)s.data + (address - s.address);
            return strnlen(text, s.file_bytes - (address - s.address)) < s.file_bytes - (address - s.address) ? text
                                                                                                              : NULL;
        }
    return NULL;
}

struct record {
    const struct compute_program* program;
    const char* types;
    const uint8_t *data, *end;
};

static double half_value(uint16_t bits) {
    const unsigned exponent = bits >> 10 & 31;
    double value = bits & 1023;
    if (exponent == 31) return value != 0 ? __builtin_nan("") : bits >> 15 ? -__builtin_inf() : __builtin_inf();
    if (exponent) value += 1024;
    for (unsigned i = exponent ? exponent : 1; i < 25; ++i) value /= 2;
    for (unsigned i = 25; i < exponent; ++i) value *= 2;
    return bits >> 15 ? -value : value;
}

static unsigned read_number(const char** at) {
    unsigned value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (value < MAX_TEXT) value = value * 10 + (unsigned)(**at - '0');
    return value;
}

/* The next argument: as a whole number with its sign, and as a number. \returns how many a vector has, 0: none is left
 */
static unsigned next_argument(struct record* r, long long whole[16], double number[16]) {
    while (*r->types == ' ') ++r->types;
    const char kind = *r->types;
    if (kind != 'i' && kind != 'f' && kind != 'p') return 0;
    ++r->types;
    const unsigned size = read_number(&r->types);
    unsigned count = 1, room = 1;
    if (*r->types == 'x') {
        ++r->types;
        count = read_number(&r->types);
    }
    if (!size || size > 8 || !count || count > 16) return 0;
    while (room < size * count) room *= 2;
    room = (room + 7) & ~7u;
    if ((uint64_t)(r->end - r->data) < room) return 0;
    for (unsigned i = 0; i < count; ++i) {
        uint64_t bits = 0;
        float single;
        memcpy(&bits, r->data + i * size, size);
        whole[i] = (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
        memcpy(&single, &bits, sizeof single);
        memcpy(&number[i], &bits, sizeof number[i]);
        if (kind == 'f' && size < 8) number[i] = size == 4 ? single : half_value((uint16_t)bits);
    }
    r->data += room;
    return count;
}

/* A conversion of a format: "%-8.3lld" with its parts. */
struct conversion {
    char flags[8];
    long long width, precision; /* -1: none */
    unsigned bits;              /* of whole numbers */
    char kind;
};

static long long star_or_number(const char** at, struct record* r) {
    long long whole[16] = {0};
    double number[16];
    if (**at == '*') {
        ++*at;
        next_argument(r, whole, number);
        return whole[0];
    }
    return read_number(at);
}

/* Reads what stands behind '%'. \returns what is behind it */
static const char* read_conversion(const char* at, struct record* r, struct conversion* c) {
    *c = (struct conversion){.width = -1, .precision = -1, .bits = 32};
    for (unsigned i = 0; *at && strchr("-+ #0'", *at); ++at)
        if (i + 2 < sizeof c->flags && *at != '\'') c->flags[i++] = *at; /* groups of digits: C's locale has none */
    if (*at == '*' || (*at >= '0' && *at <= '9')) c->width = star_or_number(&at, r);
    if (*at == '.') {
        ++at;
        c->precision = star_or_number(&at, r);
    }
    if (*at == 'v')
        for (++at; *at >= '0' && *at <= '9'; ++at) continue;
    for (; *at && strchr("hljztL", *at); ++at)
        c->bits = *at == 'h' ? (c->bits == 16 ? 8 : 16) : *at == 'l' && c->bits == 16 ? 32 : 64;
    c->kind = *at;
    return *at ? at + 1 : at;
}

static int show(char* to, const struct conversion* c, const struct compute_program* p, long long whole, double number) {
    char format[40], address[24];
    const long long width = c->width < 0 ? 0 : c->width > MAX_TEXT ? MAX_TEXT : c->width;
    const int precision = c->precision < 0 ? -1 : c->precision > MAX_TEXT ? MAX_TEXT : (int)c->precision;
    const bool left = c->width < -1; /* a '*' of a negative width */
    const int columns = left ? (int)(-c->width < MAX_TEXT ? -c->width : MAX_TEXT) : (int)width;
    const char *flags = c->flags, *text;
    const char* length = strchr("diouxX", c->kind) ? "ll" : "";
    snprintf(format, sizeof format, "%%%s%s*.*%s%c", flags, left ? "-" : "", length, c->kind == 'p' ? 's' : c->kind);
    if (c->bits < 64 && strchr("ouxX", c->kind)) whole &= (1ll << c->bits) - 1;
    if (c->bits < 64 && strchr("di", c->kind)) whole = (long long)((uint64_t)whole << (64 - c->bits)) >> (64 - c->bits);
    switch (c->kind) {
        case 'd':
        case 'i':
        case 'o':
        case 'u':
        case 'x':
        case 'X': return snprintf(to, MAX_TEXT, format, columns, precision, whole);
        case 'c': return snprintf(to, MAX_TEXT, format, columns, precision, (int)(unsigned char)whole);
        case 'p':
            snprintf(address, sizeof address, "0x%llx", (unsigned long long)whole);
            return snprintf(to, MAX_TEXT, format, columns, -1, address);
        case 's':
            text = string_at(p, (uint64_t)whole);
            return snprintf(to, MAX_TEXT, format, columns, precision, text ? text : "(not a literal)");
        default: return snprintf(to, MAX_TEXT, format, columns, precision, number);
    }
}

static void print_record(struct record* r, const char* text, FILE* file) {
    long long whole[16];
    double number[16];
    char shown[MAX_TEXT];
    while (*text) {
        struct conversion c;
        const size_t plain = strcspn(text, "%");
        fwrite(text, 1, plain, file);
        text += plain;
        if (!*text) return;
        if (text[1] == '%') {
            fputc('%', file);
            text += 2;
            continue;
        }
        const char* const behind = read_conversion(text + 1, r, &c);
        const bool known = c.kind && strchr("diouxXeEfFgGaAcsp", c.kind);
        const unsigned count =
            known || ((c.kind | 32) >= 'a' && (c.kind | 32) <= 'z') ? next_argument(r, whole, number) : 0;
        if (!count || !known) fwrite(text, 1, (size_t)(behind - text), file);
        for (unsigned i = 0; known && i < count; ++i) {
            if (i) fputc(',', file);
            const int length = show(shown, &c, r->program, whole[i], number[i]);
            fwrite(shown, 1, (size_t)(length < MAX_TEXT ? length : MAX_TEXT - 1), file);
        }
        text = behind;
    }
}

static void print_all(const struct compute_program* p, const uint8_t* data, uint64_t bytes) {
    for (uint64_t at = 0, words[3]; at + HEAD_BYTES <= bytes; at += words[0]) {
        memcpy(words, data + at, sizeof words);
        const char *text = string_at(p, words[1]), *types = string_at(p, words[2]);
        /* A kernel that went wrong has left a hole, or the last one does not fit. */
        if (words[0] % 8 || words[0] < HEAD_BYTES || words[0] > bytes - at || !text || !types) return;
        struct record r = {p, types, data + at + HEAD_BYTES, data + at + words[0]};
        const bool failed = *text == assertion;
        print_record(&r, text + failed, failed ? stderr : stdout);
    }
}

static void print_program(struct compute_program* p) {
    const struct program_block* b = &p->record->block;
    struct gpu_node* node = p->device->node;
    uint64_t used = 0, lost = 0;
    const uint64_t none = 0, room = b->bytes - b->output;
    if (gpu_copy_from(node, &used, p->block->at + b->output_used, 8) || !used) return;
    if (gpu_copy_from(node, &lost, p->block->at + b->output_lost, 8)) return;
    if (used > BUFFER_BYTES) used = BUFFER_BYTES;
    if (used > room) used = room;
    uint8_t* data = heap_allocate(used);
    if (data && !gpu_copy_from(node, data, p->block->at + b->output, used)) print_all(p, data, used);
    heap_free(data);
    gpu_copy_to(node, p->block->at + b->output_used, &none, 8);
    gpu_copy_to(node, p->block->at + b->output_lost, &none, 8);
    if (lost)
        fprintf(stderr, "fabricvp: the buffer of printf() is full: %llu calls are missing\n", (unsigned long long)lost);
}

void compute_print(const struct compute_device* d) {
    for (const struct compute_stream* s = d->streams; s; s = s->next_stream)
        if (s->first) return;
    for (struct compute_program* p = d->programs; p; p = p->next) {
        if (!p->printing) continue;
        p->printing = false;
        print_program(p);
    }
}
