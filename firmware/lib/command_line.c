/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/command_line.h"

#include "lib/libc.h"

const char* command_line_find(const char* line, const char* key) {
    const size_t length = strlen(key);
    for (const char* word = line; word && *word; ++word)
        if ((word == line || word[-1] == ' ') && strncmp(word, key, length) == 0 && word[length] == '=') return word;
    return NULL;
}

const char* command_line_value(const char* app, const char* key) {
    const char *found = command_line_find(app, key), *next = command_line_find(app, "app");
    return found && (!next || found < next) ? found + strlen(key) + 1 : NULL;
}

bool command_line_number(const char* text, uint64_t otherwise, uint64_t* value) {
    *value = otherwise;
    if (!text) return true;
    const char* digit = text;
    for (*value = 0; *digit >= '0' && *digit <= '9'; ++digit) {
        const uint64_t unit = (uint64_t)(*digit - '0');
        if (*value > (~(uint64_t)0 - unit) / 10) return false;
        *value = *value * 10 + unit;
    }
    return digit != text && (*digit == 0 || *digit == ' ');
}

bool command_line_decimal(const char* text, double* value) {
    uint64_t digits = 0, unit = 1;
    unsigned count = 0;
    bool point = false;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); ++text) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (++count > 18) return false;
        digits = digits * 10 + (uint64_t)(*text - '0');
        if (point) unit *= 10;
    }
    *value = (double)digits / (double)unit;
    return count && (*text == 0 || *text == ' ');
}
