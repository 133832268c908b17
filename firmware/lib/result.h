/* SPDX-License-Identifier: Apache-2.0 */
/* Measured figures, a line each: `# reduce bytes=65536 nodes=4 time_ps=41615250`. Keys name their units. One hart at a
 * time writes one line: begin, values, end. `fabricvp.result_lines()` reads them. */
#ifndef FABRICVP_LIB_RESULT_H
#define FABRICVP_LIB_RESULT_H

#include "lib/libc.h"

/* Names, keys and texts have no blanks; more than a line holds ends in a panic. */
void result_begin(const char* name);
void result_u64(const char* key, uint64_t value);
void result_hex(const char* key, uint64_t value);
void result_text(const char* key, const char* value);
void result_end(void); /* prints it */

#endif
