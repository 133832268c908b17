/* SPDX-License-Identifier: Apache-2.0 */
#include "host/rdma/options.h"

#include "host/apps/command_line.h"
#include "host/machine.h"

enum { A_TIME = TOLD_BYTES / sizeof(uint64_t) }; /* that one exchange tells */

void options_read(struct option* options, unsigned count) {
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    for (struct option* o = options; o < options + count; ++o) {
        const char* at = command_line_find(line, o->key);
        if (!command_line_number(at ? at + strlen(o->key) + 1 : NULL, o->value, &o->value)) panic("%s is no number", o->key);
        if (o->value < o->least) panic("%s=%lu: %lu at least", o->key, o->value, o->least);
        if (o->most && o->value > o->most) panic("%s=%lu: %lu at most", o->key, o->value, o->most);
    }
}

void options_share(struct party* p, struct option* options, unsigned count) {
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
