/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/console.h"

struct sink {
    char* to;
    size_t room;
    size_t length;
};

static void put(struct sink* s, char c) {
    if (s->length + 1 < s->room) s->to[s->length] = c;
    ++s->length;
}

static void pad(struct sink* s, int n, char c) {
    while (n-- > 0) put(s, c);
}

static void put_number(struct sink* s, uint64_t value, unsigned base, bool negative, bool upper, int width, bool left,
                       bool zero) {
    char digits[20];
    int n = 0;
    do {
        const unsigned d = (unsigned)(value % base);
        digits[n++] = (char)(d < 10 ? '0' + d : (upper ? 'A' : 'a') + d - 10);
        value /= base;
    } while (value);
    const int fill = width - n - (negative ? 1 : 0);
    if (!left && !zero) pad(s, fill, ' ');
    if (negative) put(s, '-');
    if (!left && zero) pad(s, fill, '0');
    while (n) put(s, digits[--n]);
    if (left) pad(s, fill, ' ');
}

static void put_text(struct sink* s, const char* text, int precision, int width, bool left) {
    if (!text) text = "(null)";
    const int n = (int)(precision >= 0 ? strnlen(text, (size_t)precision) : strlen(text));
    if (!left) pad(s, width - n, ' ');
    for (int i = 0; i < n; ++i) put(s, text[i]);
    if (left) pad(s, width - n, ' ');
}

static int read_number(const char** format, va_list* arguments) {
    int n = 0;
    if (**format == '*') {
        ++*format;
        return va_arg(*arguments, int);
    }
    while (**format >= '0' && **format <= '9') n = 10 * n + (*(*format)++ - '0');
    return n;
}

int format_text(char* to, size_t room, const char* format, va_list given) {
    struct sink s = {to, room, 0};
    va_list arguments;
    va_copy(arguments, given);
    for (; *format; ++format) {
        if (*format != '%') {
            put(&s, *format);
            continue;
        }
        bool left = false, zero = false;
        for (++format; *format == '-' || *format == '0'; ++format) {
            if (*format == '-')
                left = true;
            else
                zero = true;
        }
        const int width = read_number(&format, &arguments);
        int precision = -1;
        if (*format == '.') ++format, precision = read_number(&format, &arguments);
        int longs = 0;
        for (; *format == 'l' || *format == 'z'; ++format) ++longs;
        switch (*format) {
            case 'd':
            case 'i': {
                const int64_t v = longs ? va_arg(arguments, long) : va_arg(arguments, int);
                put_number(&s, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 10, v < 0, false, width, left, zero);
                break;
            }
            case 'u':
            case 'x':
            case 'X': {
                const uint64_t v = longs ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned);
                put_number(&s, v, *format == 'u' ? 10 : 16, false, *format == 'X', width, left, zero);
                break;
            }
            case 'p':
                put_text(&s, "0x", -1, 0, false);
                put_number(&s, (uintptr_t)va_arg(arguments, void*), 16, false, false, width - 2, left, zero);
                break;
            case 'c': put(&s, (char)va_arg(arguments, int)); break;
            case 's': put_text(&s, va_arg(arguments, const char*), precision, width, left); break;
            case '%': put(&s, '%'); break;
            case '\0': --format; break;
            default: put(&s, '%'), put(&s, *format);
        }
    }
    va_end(arguments);
    if (room) to[s.length < room ? s.length : room - 1] = '\0';
    return (int)s.length;
}
