/* SPDX-License-Identifier: Apache-2.0 */
/* Begins a program in one source: arguments from the command line, a stack as programs expect one, constructors, then
 * its main(), which the linker calls __real_main(). */
#include <stdlib.h>
#include <string.h>

#include "lib/heap.h"
#include "lib/machine.h"

enum { STACK_BYTES = 8 << 20, MAX_ARGUMENTS = 64 };

typedef void constructor(void);
extern constructor *const __init_array_start[], *const __init_array_end[];
int __real_main(int argc, char** argv);

static char* arguments[MAX_ARGUMENTS + 1] = {(char*)"program"};
static int argument_count = 1;

/* Words between blanks. */
static void find_arguments(void) {
    const char* line = fdt_text(&machine.tree, fdt_find_path(&machine.tree, "/chosen"), "bootargs");
    char* word = line ? heap_allocate(strlen(line) + 1) : NULL;
    if (!word) return;
    strcpy(word, line);
    while (argument_count < MAX_ARGUMENTS) {
        while (*word == ' ') ++word;
        if (!*word) return;
        arguments[argument_count++] = word;
        while (*word && *word != ' ') ++word;
        if (*word) *word++ = 0;
    }
    usage_error("the command line has more than %d words", MAX_ARGUMENTS - 1);
}

static void __attribute__((used)) run_program(void) {
    for (constructor* const* c = __init_array_start; c < __init_array_end; ++c) (*c)();
    exit(__real_main(argument_count, arguments));
}

int __wrap_main(void) {
    find_arguments();
    char* const stack = heap_allocate_aligned(STACK_BYTES, 16);
    if (!stack) panic("no memory for the program's stack");
    __asm__ volatile("mv sp, %0\n\tcall run_program" : : "r"(stack + STACK_BYTES) : "memory");
    __builtin_unreachable();
}
