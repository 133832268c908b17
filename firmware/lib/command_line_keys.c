/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/command_line.h"
#include "lib/console.h"
#include "lib/libc.h"
#include "lib/machine.h"

static bool is_among(const char* word, size_t length, const char* const* keys, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
        if (strncmp(word, keys[i], length) == 0 && !keys[i][length]) return true;
    return false;
}

static void __attribute__((noreturn)) refuse(const char* word, size_t length, const char* const* keys, unsigned count) {
    console_puts("there is no option ");
    for (size_t i = 0; i < length; ++i) console_putc(word[i]);
    console_puts(count ? ", but " : ": this program takes none");
    for (unsigned i = 0; i < count; ++i) console_printf("%s%s", i ? ", " : "", keys[i]);
    usage_error("%s", "");
}

void command_line_only(const char* line, const char* const* keys, unsigned count) {
    for (const char* word = line; word && *word; ++word) {
        if (word != line && word[-1] != ' ') continue;
        size_t length = 0;
        while (word[length] && word[length] != ' ' && word[length] != '=') ++length;
        if (!length && word[length] != '=') continue; /* a blank */
        const bool has_value = word[length] == '=';
        if (has_value && length == 3 && strncmp(word, "app", 3) == 0) return;
        if (!has_value || !is_among(word, length, keys, count)) refuse(word, length, keys, count);
    }
}
