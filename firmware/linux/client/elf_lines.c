/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the source by the line tables of DWARF (section .debug_line, versions 2 to 5). What a file says is checked
 * before it is used: every read stays inside of its section, and takes at least a byte of it, so corrupted files end
 * without a line. */
#include "drivers/gpu/elf.h"
#include "drivers/gpu/lines.h"

/* ---- bytes ---- */

/* What is left of a part of the file. */
struct reader {
    const uint8_t *at, *end;
    bool bad; /* something would have lain behind the end; all that is read from then on is 0 */
};

static uint64_t left_in(const struct reader* r) { return (uint64_t)(r->end - r->at); }

/* The next part, which is passed over. */
static struct reader take_part(struct reader* r, uint64_t bytes) {
    struct reader part = {r->end, r->end, true};
    if (bytes > left_in(r))
        r->bad = true, r->at = r->end;
    else
        part = (struct reader){r->at, r->at + bytes, r->bad}, r->at += bytes;
    return part;
}

/* A number of up to 8 bytes. */
static uint64_t take(struct reader* r, unsigned bytes) {
    uint64_t value = 0;
    const struct reader part = take_part(r, bytes);
    if (!part.bad) memcpy(&value, part.at, bytes);
    return value;
}

/* A number in LEB128, cut off above 64 bits. */
static uint64_t take_leb(struct reader* r, bool is_signed) {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
        const uint64_t byte = take(r, 1);
        if (shift < 64) value |= (byte & 0x7f) << shift;
        shift += shift < 64 ? 7 : 0;
        if (byte & 0x80) continue;
        return is_signed && byte & 0x40 && shift < 64 ? value | ~UINT64_C(0) << shift : value;
    }
}
static uint64_t take_unsigned(struct reader* r) { return take_leb(r, false); }

/* Ends with a zero in the file; empty if it does not. */
static const char* take_text(struct reader* r) {
    const uint64_t bytes = strnlen((const char*)r->at, left_in(r));
    const struct reader part = take_part(r, bytes + 1);
    return part.bad ? "" : (const char*)part.at;
}

static struct reader section_of(const void* elf, uint64_t bytes, const char* name) {
    const uint8_t* data = elf;
    uint64_t size = 0;
    if (!elf_section(elf, bytes, name, &data, &size)) size = 0;
    return (struct reader){data, data + size, false};
}

/* ---- one table ---- */

/* A table and its header. */
struct table {
    struct reader names, program;
    const uint8_t* operands; /* how many a standard opcode has, from opcode 1 on */
    unsigned version, offset_bytes, first_special, line_range;
    uint64_t line_base, instruction_bytes;
};

/* The next table, which is passed over. \returns false if it cannot be read */
static bool take_table(struct reader* section, struct table* t) {
    t->offset_bytes = 4;
    uint64_t bytes = take(section, 4);
    if (bytes == UINT32_MAX) t->offset_bytes = 8, bytes = take(section, 8);
    struct reader r = take_part(section, bytes);
    t->version = (unsigned)take(&r, 2);
    if (t->version >= 5) take(&r, 2); /* sizes of an address and a segment */
    struct reader header = take_part(&r, take(&r, t->offset_bytes));
    t->program = r;
    t->instruction_bytes = take(&header, 1);
    const bool single = t->version < 4 || take(&header, 1) == 1; /* operations of an instruction */
    take(&header, 1);
    t->line_base = (uint64_t)(int8_t)take(&header, 1);
    t->line_range = (unsigned)take(&header, 1);
    t->first_special = (unsigned)take(&header, 1);
    t->operands = take_part(&header, t->first_special ? t->first_special - 1 : 0).at;
    t->names = header;
    return !header.bad && t->version >= 2 && t->version <= 5 && single && t->line_range && t->first_special;
}

enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC }; /* standard opcodes */
enum { END_SEQUENCE = 1, SET_ADDRESS };                                                    /* extended ones */

struct row {
    uint64_t address, file, line;
};

static void advance(const struct table* t, struct row* row, unsigned special) {
    row->address += special / t->line_range * t->instruction_bytes;
}

/* Executes the program up to the row that covers an address. */
static bool find_row(const struct table* t, uint64_t address, struct row* found) {
    const struct row first = {0, 1, 1};
    struct row row = first, before = first;
    struct reader r = t->program;
    for (bool follows = false; r.at < r.end;) {
        bool is_row = false, ends = false;
        const unsigned opcode = (unsigned)take(&r, 1), special = opcode - t->first_special;
        if (opcode >= t->first_special) {
            advance(t, &row, special);
            row.line += t->line_base + special % t->line_range;
            is_row = true;
        } else if (opcode == 0) {
            struct reader extended = take_part(&r, take_unsigned(&r));
            const uint64_t kind = take(&extended, 1), operand = left_in(&extended);
            ends = is_row = kind == END_SEQUENCE;
            if (kind == SET_ADDRESS && operand <= 8) row.address = take(&extended, (unsigned)operand);
        } else if (opcode == COPY) {
            is_row = true;
        } else if (opcode == ADVANCE_PC) {
            row.address += take_unsigned(&r) * t->instruction_bytes;
        } else if (opcode == ADVANCE_LINE) {
            row.line += take_leb(&r, true);
        } else if (opcode == SET_FILE) {
            row.file = take_unsigned(&r);
        } else if (opcode == CONST_ADD_PC) {
            advance(t, &row, 255 - t->first_special);
        } else if (opcode == FIXED_ADVANCE_PC) {
            row.address += take(&r, 2);
        } else {
            for (unsigned n = t->operands[opcode - 1]; n; --n) take_unsigned(&r);
        }
        if (!is_row || r.bad) continue;
        *found = before;
        if (follows && before.address <= address && address < row.address) return true;
        before = row;
        follows = !ends;
        if (ends) row = first;
    }
    return false;
}

/* ---- names of files ---- */

enum { PATH = 1, MAX_VALUES = 16 }; /* of an entry of version 5: a kind, and how many there are */
enum { DATA2 = 5, DATA4, DATA8, STRING, BLOCK, DATA1 = 11, STRP = 14, UDATA, DATA16 = 30, LINE_STRP }; /* forms */

struct strings {
    struct reader own, of_lines; /* .debug_str and .debug_line_str */
};

/* A value of an entry, as text if it is one and `wanted`. */
static const char* take_form(struct reader* r, uint64_t form, const struct table* t, const struct strings* all,
                             bool wanted) {
    struct reader from = form == STRP ? all->own : all->of_lines;
    switch (form) {
        case STRING: return take_text(r);
        case STRP:
        case LINE_STRP: take_part(&from, take(r, t->offset_bytes)); return wanted ? take_text(&from) : "";
        case DATA1:
        case DATA2: take_part(r, form == DATA1 ? 1 : 2); break;
        case DATA4:
        case DATA8: take_part(r, form == DATA4 ? 4 : 8); break;
        case DATA16: take_part(r, 16); break;
        case UDATA: take_unsigned(r); break;
        case BLOCK: take_part(r, take_unsigned(r)); break;
        default: r->bad = true, r->at = r->end;
    }
    return "";
}

/* Passes over a list of version 5 up to an entry. \returns its path, empty if it has none */
static const char* take_entries(struct reader* r, uint64_t wanted, const struct table* t, const struct strings* all) {
    const char* path = "";
    uint64_t what[MAX_VALUES], form[MAX_VALUES];
    const unsigned values = (unsigned)take(r, 1);
    if (values > MAX_VALUES) r->bad = true, r->at = r->end;
    for (unsigned i = 0; i < values && !r->bad; ++i) what[i] = take_unsigned(r), form[i] = take_unsigned(r);
    const uint64_t entries = take_unsigned(r);
    if (!values) return "";
    for (uint64_t entry = 0; entry < entries && !r->bad; ++entry)
        for (unsigned i = 0; i < values && !r->bad; ++i) {
            const bool is_path = entry == wanted && what[i] == PATH;
            const char* text = take_form(r, form[i], t, all, is_path);
            if (is_path) path = text;
        }
    return r->bad ? "" : path;
}

static const char* file_of(const struct table* t, uint64_t file, const struct strings* all) {
    struct reader r = t->names;
    if (t->version >= 5) {
        take_entries(&r, UINT64_MAX, t, all); /* folders */
        return take_entries(&r, file, t, all);
    }
    while (*take_text(&r)) { /* folders */
    }
    for (uint64_t i = 1;; ++i) {
        const char* name = take_text(&r);
        if (!*name || i == file) return name;
        for (unsigned n = 0; n < 3; ++n) take_unsigned(&r);
    }
}

bool gpu_line_at(const void* elf, uint64_t bytes, uint64_t address, struct gpu_line* line) {
    const struct strings all = {section_of(elf, bytes, ".debug_str"), section_of(elf, bytes, ".debug_line_str")};
    struct reader section = section_of(elf, bytes, ".debug_line");
    while (section.at < section.end) {
        struct table t;
        struct row row;
        if (!take_table(&section, &t) || !find_row(&t, address, &row)) continue;
        const char* path = file_of(&t, row.file, &all);
        const char* folders = strrchr(path, '/');
        *line = (struct gpu_line){folders ? folders + 1 : path, row.line};
        return row.line && *line->file; /* 0: of no line, as code that the compiler has added */
    }
    return false;
}
