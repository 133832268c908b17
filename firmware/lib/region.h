/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of interest through the marker device. Where there is none, nothing happens. */
#ifndef FABRICVP_LIB_REGION_H
#define FABRICVP_LIB_REGION_H

#include "lib/libc.h"

bool region_available(void);
void region_begin(const char* label); /* statistics count from zero */
void region_end(void);                /* they are recorded under the label */
void region_note(const char* label);
unsigned region_count(void); /* regions recorded so far */

#endif
