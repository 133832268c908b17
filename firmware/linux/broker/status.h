/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LINUX_BROKER_STATUS_H
#define FABRICVP_LINUX_BROKER_STATUS_H

#include <stdio.h>

/* What fabricvp-smi prints. */
void status_print(FILE* to);

#endif
