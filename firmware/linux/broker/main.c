/* SPDX-License-Identifier: Apache-2.0 */
/* fabricvp-broker [--stay] [--timeout MS]. The first process that opens a GPU starts it; its variable
 * FABRICVP_KERNEL_TIMEOUT is --timeout then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "linux/broker/run.h"

static unsigned milliseconds(const char* what, const char* text) {
    char* end;
    const unsigned long value = strtoul(text, &end, 10);
    if (end != text && !*end && *text != '-' && value <= 1000000000) return (unsigned)value;
    fprintf(stderr, "fabricvp-broker: %s %s: must be milliseconds from 0 to 1000000000\n", what, text);
    exit(2);
}

int main(int argc, char** argv) {
    struct broker_options options = {.report = -1};
    const char* timeout = getenv("FABRICVP_KERNEL_TIMEOUT");
    const char* named = "FABRICVP_KERNEL_TIMEOUT";
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--stay") == 0) {
            options.stays = true;
        } else if (strcmp(argv[i], "--report") == 0 && i + 1 < argc) {
            options.report = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--timeout") == 0 && i + 1 < argc) {
            named = argv[i];
            timeout = argv[++i];
        } else {
            fprintf(stderr, "fabricvp-broker: %s: must be --stay or --timeout MS\n", argv[i]);
            return 2;
        }
    }
    if (options.report >= 0) dup2(options.report, 2);
    if (timeout) options.timeout_ms = milliseconds(named, timeout);
    prctl(PR_SET_NAME, "fabricvp-broker");
    broker_run(&options);
    return 0;
}
