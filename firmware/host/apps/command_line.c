/* SPDX-License-Identifier: Apache-2.0 */
#include "host/apps/command_line.h"

#include "host/libc.h"

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

uint64_t command_line_number(const char* text, uint64_t otherwise) {
    if (!text) return otherwise;
    uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (uint64_t)(*text - '0');
    return value;
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
