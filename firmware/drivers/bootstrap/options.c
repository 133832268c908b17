/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/bootstrap/options.h"

#include "lib/command_line.h"
#include "lib/console.h"
#include "lib/csr.h"
#include "lib/machine.h"

enum { VALUES_PER_MESSAGE = BOOTSTRAP_MESSAGE_BYTES / sizeof(uint64_t) }; /* that one exchange tells */

/* ---- words of the command line ---- */

struct token {
    const char* text;
    size_t length;
};

/* Up to a blank or to `end`. */
static struct token token_of(const char* text, char end) {
    struct token t = {text, 0};
    while (text[t.length] && text[t.length] != ' ' && text[t.length] != end) ++t.length;
    return t;
}

static bool token_is(const struct token* t, const char* text) {
    return strlen(text) == t->length && !strncmp(t->text, text, t->length);
}

static void put_token(const struct token* t) {
    for (size_t i = 0; i < t->length; ++i) console_putc(t->text[i]);
}

/* ---- values that have names ---- */

/* Names that the program takes: `min` and `max` may leave some out. */
static bool has_name(const struct option* o, unsigned n) {
    return o->names[n] && (o->is_set ? !o->max || o->max >> n & 1 : n >= o->min && (!o->max || n <= o->max));
}

static bool find_name(const struct option* o, const struct token* t, unsigned* n) {
    for (*n = 0; o->names[*n]; ++*n)
        if (has_name(o, *n) && token_is(t, o->names[*n])) return true;
    return false;
}

static bool read_set(const struct option* o, const struct token* text, uint64_t* value) {
    const char *at = text->text, *const end = at + text->length;
    *value = 0;
    if (token_is(text, "none")) return !o->min;
    for (;; ++at) {
        const struct token name = token_of(at, ',');
        unsigned n;
        if (!find_name(o, &name, &n)) return false;
        *value |= UINT64_C(1) << n;
        at += name.length;
        if (at == end) return true;
    }
}

static bool read_names(const struct option* o, const struct token* text, uint64_t* value) {
    unsigned n;
    if (o->is_set) return read_set(o, text, value);
    if (!find_name(o, text, &n)) return false;
    *value = n;
    return true;
}

/* Firmware once had numbers where there are names now. */
static bool number_has_names(const struct option* o, uint64_t number) {
    unsigned names = 0;
    while (o->names[names]) ++names;
    if (!o->is_set) return number < names && has_name(o, (unsigned)number);
    return number >= o->min && !(number >> names) && (!o->max || !(number & ~o->max));
}

static void put_names(const struct option* o, uint64_t number) {
    const char* separator = "";
    if (!o->is_set || !number) {
        console_puts(o->is_set ? "none" : o->names[number]);
        return;
    }
    for (unsigned n = 0; o->names[n]; ++n) {
        if (!(number >> n & 1)) continue;
        console_printf("%s%s", separator, o->names[n]);
        separator = ",";
    }
}

/* ---- what is refused ---- */

/* A message that was put together ends. */
static void __attribute__((noreturn)) reject(void) { usage_error("%s", ""); }

static void __attribute__((noreturn))
reject_old(const struct option* o, const struct token* key, const struct token* value) {
    uint64_t number;
    put_token(key);
    console_putc('=');
    put_token(value);
    console_printf(" is now %s=", o->key);
    if (o->names && command_line_number(value->text, 0, &number) && number_has_names(o, number))
        put_names(o, number);
    else
        put_token(value);
    reject();
}

static void __attribute__((noreturn)) reject_value(const struct option* o, const struct token* value) {
    const char* separator = "";
    console_printf("%s=", o->key);
    put_token(value);
    console_puts(o->is_set ? ": one or more of " : ": one of ");
    for (unsigned n = 0; o->names[n]; ++n) {
        if (!has_name(o, n)) continue;
        console_printf("%s%s", separator, o->names[n]);
        separator = ", ";
    }
    if (o->is_set) console_puts(o->min ? ", with commas between" : ", with commas between; or none");
    reject();
}

static void __attribute__((noreturn))
reject_key(const struct token* key, const struct option* options, unsigned count) {
    const char* separator = " ";
    console_puts("there is no option ");
    put_token(key);
    console_puts(", but");
    for (const struct option* o = options; o < options + count; ++o) {
        if (o->is_hidden) continue;
        console_printf("%s%s", separator, o->key);
        separator = ", ";
    }
    reject();
}

/* A misspelt key would silently leave its default in place. */
static void check_keys(const char* line, const struct option* options, unsigned count) {
    for (const char* word = line; word && *word; ++word) {
        if (word != line && word[-1] != ' ') continue;
        const struct token key = token_of(word, '=');
        bool is_known = word[key.length] != '=';
        for (const struct option* o = options; o < options + count; ++o) is_known = is_known || token_is(&key, o->key);
        if (is_known) continue;
        const struct token value = token_of(word + key.length + 1, ' ');
        for (const struct option* o = options; o < options + count; ++o)
            if (o->old && token_is(&key, o->old)) reject_old(o, &key, &value);
        reject_key(&key, options, count);
    }
}

static void read_name(struct option* o, const char* text) {
    const struct token key = {o->key, strlen(o->key)}, value = token_of(text, ' ');
    uint64_t number;
    if (read_names(o, &value, &o->value)) return;
    if (command_line_number(text, 0, &number) && number_has_names(o, number)) reject_old(o, &key, &value);
    reject_value(o, &value);
}

static void read_number(struct option* o, const char* text) {
    if (!command_line_number(text, o->value, &o->value)) usage_error("%s is no number", o->key);
    if (o->value < o->min) usage_error("%s=%lu: %lu at least", o->key, o->value, o->min);
    if (o->max && o->value > o->max) usage_error("%s=%lu: %lu at most", o->key, o->value, o->max);
}

/* How many nodes work together: as many as the machine has, where its device tree says so. */
static void read_nodes(struct option* o, const char* text) {
    if (!machine.nodes) {
        read_number(o, text);
        return;
    }
    uint64_t wanted;
    if (!command_line_number(text, machine.nodes, &wanted)) usage_error("%s is no number", o->key);
    if (wanted != machine.nodes)
        usage_error("%s=%lu: this machine has %u; leave it out", o->key, wanted, machine.nodes);
    o->value = machine.nodes;
    if (o->value < o->min)
        usage_error("this machine has too few nodes, %lu: this program takes %lu at least", o->value, o->min);
    if (o->value > o->max)
        usage_error("this machine has too many nodes, %lu: this program takes %lu at most", o->value, o->max);
}

static void options_read(struct option* options, unsigned count) {
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    check_keys(line, options, count);
    const char* nodes = command_line_find(line, options[0].key);
    read_nodes(&options[0], nodes ? nodes + strlen(options[0].key) + 1 : NULL);
    for (struct option* o = options + 1; o < options + count; ++o) {
        const char* at = command_line_find(line, o->key);
        if (!at) continue;
        if (o->names)
            read_name(o, at + strlen(o->key) + 1);
        else
            read_number(o, at + strlen(o->key) + 1);
    }
}

static void options_broadcast(struct bootstrap* p, struct option* options, unsigned count) {
    for (unsigned first = 0; first < count; first += VALUES_PER_MESSAGE) {
        const unsigned part = count - first < VALUES_PER_MESSAGE ? count - first : VALUES_PER_MESSAGE;
        uint64_t values[VALUES_PER_MESSAGE] = {0}, received[VALUES_PER_MESSAGE];
        for (unsigned i = 0; i < part; ++i) values[i] = options[first + i].value;
        for (unsigned i = 1; !p->comm.rank && i < p->comm.size; ++i)
            bootstrap_exchange(p, i, values, received, sizeof values);
        if (!p->comm.rank) continue;
        bootstrap_exchange(p, 0, values, received, sizeof values);
        for (unsigned i = 0; i < part; ++i) options[first + i].value = received[i];
    }
}

void program_begin(struct bootstrap* bootstrap, struct option* options, unsigned count, void (*check)(void)) {
    csr_set(mstatus, MSTATUS_FLOATS);
    options_read(options, count);
    bootstrap_init(bootstrap, (unsigned)options[0].value);
    if (check && !bootstrap->comm.rank) check();
    options_broadcast(bootstrap, options, count);
}

int program_end(bool ok) {
    console_printf("%s\n", ok ? "all ok, powering off" : "FAILED");
    return ok ? 0 : 1;
}

void option_max(const struct option* o, uint64_t max, const char* why) {
    if (o->value > max) usage_error("%s=%lu: %lu at most, %s", o->key, o->value, max, why);
}

void option_multiple(const struct option* o, uint64_t of, const char* what) {
    if (o->value % of) usage_error("%s=%lu: a multiple of %lu, %s", o->key, o->value, of, what);
}

void option_power(const struct option* o) {
    if (o->value & (o->value - 1)) usage_error("%s=%lu: a power of two", o->key, o->value);
}

void option_only(const struct option* o, bool possible, const char* where) {
    if (!o->value || possible) return;
    if (o->names && !o->is_set) usage_error("%s=%s: only %s", o->key, option_name(o), where);
    usage_error("%s=%lu: only %s", o->key, o->value, where);
}

const char* option_name(const struct option* o) { return o->names[o->value]; }
