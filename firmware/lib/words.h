/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LIB_WORDS_H
#define FABRICVP_LIB_WORDS_H

#include "lib/libc.h"

/* Does `text` begin with this word, followed by a blank or its end? */
static inline bool word_is(const char* text, const char* word) {
    const size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && (text[length] == 0 || text[length] == ' ');
}

#endif
