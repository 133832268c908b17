/* SPDX-License-Identifier: Apache-2.0 */
/* fabricvp-broker [--stay]. The first process that opens a GPU starts it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "linux/broker/run.h"

int main(int argc, char** argv) {
    int report = -1;
    bool stays = false;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--stay") == 0) {
            stays = true;
        } else if (strcmp(argv[i], "--report") == 0 && i + 1 < argc) {
            report = atoi(argv[++i]);
        } else {
            fprintf(stderr, "fabricvp-broker: %s: must be --stay\n", argv[i]);
            return 2;
        }
    }
    prctl(PR_SET_NAME, "fabricvp-broker");
    broker_run(report, stays);
    return 0;
}
