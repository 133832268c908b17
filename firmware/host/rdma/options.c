/* SPDX-License-Identifier: Apache-2.0 */
#include "host/rdma/options.h"

#include "host/apps/command_line.h"
#include "host/console.h"
#include "host/csr.h"
#include "host/machine.h"

enum { A_TIME = TOLD_BYTES / sizeof(uint64_t) }; /* that one exchange tells */

/* A slip in a key would leave its default in place, and nobody would notice. */
static void refuse_unknown(const char* line, const struct option* options, unsigned count) {
    for (const char* word = line; word && *word; ++word) {
        if (word != line && word[-1] != ' ') continue;
        size_t length = 0;
        while (word[length] && word[length] != ' ' && word[length] != '=') ++length;
        bool known = word[length] != '=';
        for (const struct option* o = options; o < options + count; ++o)
            known = known || (strlen(o->key) == length && !strncmp(word, o->key, length));
        if (known) continue;
        console_puts("there is no option ");
        for (size_t i = 0; i < length; ++i) console_putc(word[i]);
        console_puts(", but");
        for (const struct option* o = options; o < options + count - 1; ++o) console_printf(" %s,", o->key);
        refuse(" %s", options[count - 1].key);
    }
}

static void options_read(struct option* options, unsigned count) {
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    refuse_unknown(line, options, count);
    for (struct option* o = options; o < options + count; ++o) {
        const char* at = command_line_find(line, o->key);
        if (!command_line_number(at ? at + strlen(o->key) + 1 : NULL, o->value, &o->value))
            refuse("%s is no number", o->key);
        if (o->value < o->least) refuse("%s=%lu: %lu at least", o->key, o->value, o->least);
        if (o->most && o->value > o->most) refuse("%s=%lu: %lu at most", o->key, o->value, o->most);
    }
}

static void options_share(struct party* p, struct option* options, unsigned count) {
    for (unsigned first = 0; first < count; first += A_TIME) {
        const unsigned part = count - first < A_TIME ? count - first : A_TIME;
        uint64_t values[A_TIME] = {0}, told[A_TIME];
        for (unsigned i = 0; i < part; ++i) values[i] = options[first + i].value;
        for (unsigned i = 1; !p->index && i < p->count; ++i) party_exchange(p, i, values, told, sizeof values);
        if (!p->index) continue;
        party_exchange(p, 0, values, told, sizeof values);
        for (unsigned i = 0; i < part; ++i) options[first + i].value = told[i];
    }
}

void program_begin(struct party* party, struct option* options, unsigned count, void (*check)(void)) {
    csr_set(mstatus, MSTATUS_FLOATS);
    options_read(options, count);
    party_join(party, (unsigned)options[0].value);
    if (check && !party->index) check();
    options_share(party, options, count);
}

int program_end(bool right) {
    console_printf("%s\n", right ? "all ok, powering off" : "FAILED");
    return right ? 0 : 1;
}

void option_at_most(const struct option* o, uint64_t most, const char* why) {
    if (o->value > most) refuse("%s=%lu: %lu at most, %s", o->key, o->value, most, why);
}

void option_multiple(const struct option* o, uint64_t of, const char* what) {
    if (o->value % of) refuse("%s=%lu: a multiple of %lu, %s", o->key, o->value, of, what);
}

void option_power(const struct option* o) {
    if (o->value & (o->value - 1)) refuse("%s=%lu: a power of two", o->key, o->value);
}

void option_only(const struct option* o, bool possible, const char* where) {
    if (o->value && !possible) refuse("%s=%lu: only %s", o->key, o->value, where);
}
