/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_CP_REPORT_H
#define FABRICVP_CP_REPORT_H

#include <stdint.h>

#include "abi/gpu.h"

/* Appends a record to the log that the host reads, and interrupts it. Any hart may. */
void report(const struct gpu_fault_record* record);
/* Moves what the dispatcher's fault FIFO holds into the log. Any hart may. */
void report_dispatcher_faults(void);
/* This hart's firmware is at its end. */
void report_crash(const struct gpu_fault_record* record);

#endif
