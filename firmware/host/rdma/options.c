/* SPDX-License-Identifier: Apache-2.0 */
#include "host/rdma/options.h"

#include "host/apps/command_line.h"
#include "host/console.h"
#include "host/csr.h"
#include "host/machine.h"

enum { VALUES_PER_MESSAGE = COMM_MESSAGE_BYTES / sizeof(uint64_t) }; /* that one exchange tells */

/* A slip in a key would leave its default in place, and nobody would notice. */
static void reject_unknown(const char* line, const struct option* options, unsigned count) {
    for (const char* word = line; word && *word; ++word) {
        if (word != line && word[-1] != ' ') continue;
        size_t length = 0;
        while (word[length] && word[length] != ' ' && word[length] != '=') ++length;
        bool is_known = word[length] != '=';
        for (const struct option* o = options; o < options + count; ++o)
            is_known = is_known || (strlen(o->key) == length && !strncmp(word, o->key, length));
        if (is_known) continue;
        console_puts("there is no option ");
        for (size_t i = 0; i < length; ++i) console_putc(word[i]);
        console_puts(", but");
        for (const struct option* o = options; o < options + count - 1; ++o) console_printf(" %s,", o->key);
        usage_error(" %s", options[count - 1].key);
    }
}

static void options_read(struct option* options, unsigned count) {
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    reject_unknown(line, options, count);
    for (struct option* o = options; o < options + count; ++o) {
        const char* at = command_line_find(line, o->key);
        if (!command_line_number(at ? at + strlen(o->key) + 1 : NULL, o->value, &o->value))
            usage_error("%s is no number", o->key);
        if (o->value < o->min) usage_error("%s=%lu: %lu at least", o->key, o->value, o->min);
        if (o->max && o->value > o->max) usage_error("%s=%lu: %lu at most", o->key, o->value, o->max);
    }
}

static void options_broadcast(struct communicator* p, struct option* options, unsigned count) {
    for (unsigned first = 0; first < count; first += VALUES_PER_MESSAGE) {
        const unsigned part = count - first < VALUES_PER_MESSAGE ? count - first : VALUES_PER_MESSAGE;
        uint64_t values[VALUES_PER_MESSAGE] = {0}, received[VALUES_PER_MESSAGE];
        for (unsigned i = 0; i < part; ++i) values[i] = options[first + i].value;
        for (unsigned i = 1; !p->rank && i < p->size; ++i) comm_exchange(p, i, values, received, sizeof values);
        if (!p->rank) continue;
        comm_exchange(p, 0, values, received, sizeof values);
        for (unsigned i = 0; i < part; ++i) options[first + i].value = received[i];
    }
}

void program_begin(struct communicator* comm, struct option* options, unsigned count, void (*check)(void)) {
    csr_set(mstatus, MSTATUS_FLOATS);
    options_read(options, count);
    comm_init(comm, (unsigned)options[0].value);
    if (check && !comm->rank) check();
    options_broadcast(comm, options, count);
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
    if (o->value && !possible) usage_error("%s=%lu: only %s", o->key, o->value, where);
}
