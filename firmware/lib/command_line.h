/* SPDX-License-Identifier: Apache-2.0 */
/* `key=value` words behind an application's name on the kernel command line. */
#ifndef FABRICVP_LIB_COMMAND_LINE_H
#define FABRICVP_LIB_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Where `key=` is, from `line` on; NULL if it is not there. */
const char* command_line_find(const char* line, const char* key);
/* Value of `key=` for the application whose name is at `app`, NULL if absent. */
const char* command_line_value(const char* app, const char* key);
/* What stands behind the word at `line`. */
static inline const char* command_line_behind(const char* line) {
    while (*line && *line != ' ') ++line;
    return line;
}
/* Refuses words that are no `key=value` with one of these keys, up to the next `app=`: a misspelt key would silently
 * leave its default in place. */
void command_line_only(const char* line, const char* const* keys, unsigned count);
/* A whole number up to the next blank; `otherwise` for NULL. \returns false if it is none, or does not fit */
bool command_line_number(const char* text, uint64_t otherwise, uint64_t* value);
/* A decimal number up to the next blank. \returns false if it is none */
bool command_line_decimal(const char* text, double* value);

#endif
