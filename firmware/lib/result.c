/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/result.h"

#include "lib/console.h"
#include "lib/machine.h"

enum { MAX_LENGTH = 240 };
static char line[MAX_LENGTH];
static size_t used;

static void __attribute__((format(printf, 1, 2))) append(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)format_text(line + used, sizeof line - used, format, arguments);
    va_end(arguments);
    if (used >= sizeof line) panic("a result is longer than %u characters", MAX_LENGTH);
}

void result_begin(const char* name) {
    used = 0;
    append("# %s", name);
}

void result_u64(const char* key, uint64_t value) { append(" %s=%lu", key, value); }
void result_hex(const char* key, uint64_t value) { append(" %s=0x%lx", key, value); }
void result_text(const char* key, const char* value) { append(" %s=%s", key, value); }

void result_end(void) { console_printf("%s\n", line); }
