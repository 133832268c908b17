/* SPDX-License-Identifier: Apache-2.0 */
#include "programs/apps/matrix.h"

#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"

struct text {
    const char *at, *end;
    uint64_t line;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void skip_blanks(struct text* t) {
    while (t->at < t->end && is_blank(*t->at)) ++t->at;
}

static void skip_line(struct text* t) {
    while (t->at < t->end && *t->at != '\n') ++t->at;
    if (t->at < t->end) ++t->at;
    ++t->line;
}

static bool read_word(struct text* t, char* to, unsigned room) {
    skip_blanks(t);
    unsigned n = 0;
    while (t->at < t->end && *t->at != '\n' && !is_blank(*t->at)) {
        if (n + 1 == room) return false;
        const char c = *t->at++;
        to[n++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    to[n] = 0;
    return n != 0;
}

static bool read_count(struct text* t, uint64_t* value) {
    char word[24];
    if (!read_word(t, word, sizeof word)) return false;
    *value = 0;
    for (const char* c = word; *c; ++c) {
        if (*c < '0' || *c > '9' || *value > 0xffffffff) return false;
        *value = *value * 10 + (uint64_t)(*c - '0');
    }
    return true;
}

/* Decimal with exponent; exact for up to 15 digits and small exponents, which is what such files hold. */
static bool read_real(struct text* t, double* value) {
    char word[64];
    if (!read_word(t, word, sizeof word)) return false;
    const char* c = word;
    const bool negative = *c == '-';
    if (*c == '-' || *c == '+') ++c;
    uint64_t digits = 0;
    int scale = 0;
    bool any = false, after_point = false;
    for (; (*c >= '0' && *c <= '9') || (*c == '.' && !after_point); ++c) {
        if (*c == '.') {
            after_point = true;
            continue;
        }
        any = true;
        if (digits < 1000000000000000000ull) {
            digits = digits * 10 + (uint64_t)(*c - '0');
            scale -= after_point;
        } else {
            scale += !after_point;
        }
    }
    if (!any) return false;
    if (*c == 'e' || *c == 'd') {
        const bool down = *++c == '-';
        if (*c == '-' || *c == '+') ++c;
        if (*c < '0' || *c > '9') return false;
        int exponent = 0;
        for (; *c >= '0' && *c <= '9' && exponent < 1000; ++c) exponent = exponent * 10 + (*c - '0');
        scale += down ? -exponent : exponent;
    }
    if (*c) return false;
    double power = 1, result = (double)digits;
    for (int i = scale < 0 ? -scale : scale; i > 0; --i) power *= 10;
    result = scale < 0 ? result / power : result * power;
    *value = negative ? -result : result;
    return true;
}

struct entry {
    uint32_t row, column;
    double value;
};

/* Counting sort by row; entries of a row keep the file's order. */
static void build(struct app* app, struct matrix* m, const struct entry* list) {
    m->row_start = app_host(app, (m->rows + 1) * sizeof *m->row_start);
    m->column = app_host(app, m->entries * sizeof *m->column);
    m->value = app_host(app, m->entries * sizeof *m->value);
    for (uint64_t i = 0; i < m->entries; ++i) ++m->row_start[list[i].row + 1];
    for (uint64_t r = 0; r < m->rows; ++r) m->row_start[r + 1] += m->row_start[r];
    uint32_t* next = app_host(app, m->rows * sizeof *next);
    memcpy(next, m->row_start, m->rows * sizeof *next);
    for (uint64_t i = 0; i < m->entries; ++i) {
        const uint32_t at = next[list[i].row]++;
        m->column[at] = list[i].column;
        m->value[at] = (float)list[i].value;
    }
    heap_free(next);
}

const char* matrix_read(struct app* app, struct matrix* m, const char* from, uint64_t bytes, uint64_t* line) {
    struct text t = {from, from + bytes, 1};
    char word[32], field[32], symmetry[32];
    const char* wrong = NULL;
    uint64_t count = 0, done = 0;
    struct entry* list = NULL;
    *line = 1;
    if (!read_word(&t, word, sizeof word) || strcmp(word, "%%matrixmarket") || !read_word(&t, word, sizeof word) ||
        strcmp(word, "matrix") || !read_word(&t, word, sizeof word) || strcmp(word, "coordinate"))
        return "does not begin with '%%MatrixMarket matrix coordinate'";
    if (!read_word(&t, field, sizeof field) ||
        (strcmp(field, "real") && strcmp(field, "integer") && strcmp(field, "pattern")))
        return "entries must be real, integer or pattern";
    if (!read_word(&t, symmetry, sizeof symmetry) || (strcmp(symmetry, "general") && strcmp(symmetry, "symmetric")))
        return "symmetry must be general or symmetric";
    const bool pattern = strcmp(field, "pattern") == 0, mirrored = strcmp(symmetry, "symmetric") == 0;
    do skip_line(&t);
    while (t.at < t.end && (*t.at == '%' || *t.at == '\n'));
    if (!read_count(&t, &m->rows) || !read_count(&t, &m->columns) || !read_count(&t, &count) || !m->rows ||
        !m->columns || m->rows > 0x7fffffff || m->columns > 0x7fffffff || count > 0x7fffffff)
        wrong = "must hold the numbers of rows, columns and entries";
    else if (!(list = heap_allocate(2 * count * sizeof *list + 1)))
        wrong = "more entries than the host has memory for";
    while (!wrong && done < count) {
        uint64_t row = 0, column = 0;
        double value = 1;
        skip_line(&t);
        if (t.at == t.end)
            wrong = "the file ends before its last entry";
        else if (*t.at == '%' || *t.at == '\n')
            continue;
        else if (!read_count(&t, &row) || !read_count(&t, &column) || (!pattern && !read_real(&t, &value)))
            wrong = pattern ? "must hold row and column" : "must hold row, column and value";
        else if (!row || row > m->rows || !column || column > m->columns)
            wrong = "names an entry outside of the matrix";
        else {
            ++done;
            list[m->entries++] = (struct entry){(uint32_t)row - 1, (uint32_t)column - 1, value};
            if (mirrored && row != column)
                list[m->entries++] = (struct entry){(uint32_t)column - 1, (uint32_t)row - 1, value};
        }
    }
    *line = t.line;
    if (!wrong) build(app, m, list);
    heap_free(list);
    return wrong;
}

/* How many ones 64 random bits hold is nearly a normal distribution: mean 32, deviation 4. */
static double normal(uint64_t random) {
    int ones = 0;
    for (; random; random &= random - 1) ++ones;
    return (ones - 32) / 4.0;
}

static double square_root(double x) {
    __asm__("fsqrt.d %0, %0" : "+f"(x));
    return x;
}

void matrix_generate(struct app* app, struct matrix* m, uint64_t rows, double density, float scale) {
    m->rows = m->columns = rows;
    m->scale = scale;
    m->row_start = app_host(app, (rows + 1) * sizeof *m->row_start);
    m->entries = 0;
    const double mean = density * (double)rows, deviation = square_root(mean * (1 - density));
    for (uint64_t r = 0; r < rows; ++r) {
        const uint64_t random = hash64(~r);
        const double wanted = mean + deviation * normal(hash64(random)) + (double)(random >> 11) * 0x1p-53;
        m->entries += wanted <= 0 ? 0 : wanted >= (double)rows ? rows : (uint64_t)wanted;
        m->row_start[r + 1] = (uint32_t)m->entries;
    }
}

struct spmv_arguments matrix_place(struct app* app, const struct matrix* m) {
    console_printf("matrix     %lu rows, %lu columns, %lu entries\n", m->rows, m->columns, m->entries);
    const struct spmv_arguments a = {.row_start = app_buffer(app, (m->rows + 1) * 4),
                                     .column = app_buffer(app, m->entries * 4),
                                     .value = app_buffer(app, m->entries * 4),
                                     .rows = m->rows};
    app_upload(app, a.row_start, m->row_start, (m->rows + 1) * 4);
    if (m->column) {
        app_upload(app, a.column, m->column, m->entries * 4);
        app_upload(app, a.value, m->value, m->entries * 4);
    } else {
        const struct sparse_arguments s = {a.row_start, a.column, a.value, m->rows, random_for_lanes(0), m->scale};
        app_run_1d(app, app_kernel(app, "sparse"), m->rows, 256, &s, sizeof s);
    }
    return a;
}

bool matrix_file(const char** text, uint64_t* bytes) {
    const fdt_node chosen = fdt_find_path(&machine.tree, "/chosen");
    uint64_t edge[2] = {0, 0};
    const char* const names[] = {"linux,initrd-start", "linux,initrd-end"};
    for (unsigned i = 0; i < 2; ++i) {
        uint32_t size = 0;
        if (!fdt_property(&machine.tree, chosen, names[i], &size) || (size != 4 && size != 8)) return false;
        for (uint32_t c = 0; c < size / 4; ++c)
            edge[i] = edge[i] << 32 | fdt_cell(&machine.tree, chosen, names[i], c, 0);
    }
    *text = (const char*)edge[0];
    *bytes = edge[1] - edge[0];
    return edge[1] > edge[0];
}
