/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LINUX_BROKER_RUN_H
#define FABRICVP_LINUX_BROKER_RUN_H

#include <stdbool.h>

struct broker_options {
    int report;          /* file for messages until it is ready, -1: standard error */
    bool stays;          /* without processes, too */
    unsigned timeout_ms; /* how long a kernel may run; 0: for ever */
};
void broker_run(const struct broker_options* options);

#endif
