/* SPDX-License-Identifier: Apache-2.0 */
/* How programs of several nodes begin and end, and their options: `key=value` on the kernel command line, a value being
 * a number, or the name that the option has for it. Node 0 tells the others. The first option is `nodes`: every node
 * reads it from its device tree, and a number that differs is invalid; the command line gives it only where the device
 * tree does not. An invalid option ends the program (usage_error() of machine.h). */
#ifndef FABRICVP_DRIVERS_BOOTSTRAP_OPTIONS_H
#define FABRICVP_DRIVERS_BOOTSTRAP_OPTIONS_H

#include "drivers/bootstrap/bootstrap.h"

struct option {
    const char* key;
    uint64_t value, min, max; /* max 0: no limit */
    const char* const*
        names;       /* of the values 0, 1, …, then NULL: the command line has these; no names: it has numbers */
    bool is_set;     /* names[n] is bit n: the command line has them with commas between, or `none` */
    bool is_hidden;  /* for tests: no message lists it */
    const char* old; /* the key that it had before: refused, with the key and value that stand for it now */
};

/* Reads options, finds the other nodes, lets node 0 check what bounds do not say, and gives its options to every rank.
 */
void program_begin(struct bootstrap* bootstrap, struct option* options, unsigned count, void (*check)(void));
/* Says whether all was right. \returns the status of main() */
int program_end(bool ok);

/* What may stand in one option follows from others. */
void option_max(const struct option* option, uint64_t max, const char* why);
void option_multiple(const struct option* option, uint64_t of, const char* what);
void option_power(const struct option* option);
/* Not 0 only where it has an effect. */
void option_only(const struct option* option, bool possible, const char* where);
/* The name of its value; of one that has names, and is no set. */
const char* option_name(const struct option* option);

#endif
