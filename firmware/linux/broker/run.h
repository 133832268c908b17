/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LINUX_BROKER_RUN_H
#define FABRICVP_LINUX_BROKER_RUN_H

#include <stdbool.h>

/* \param report file for messages until it is ready, -1: standard error \param stays without processes, too */
void broker_run(int report, bool stays);

#endif
