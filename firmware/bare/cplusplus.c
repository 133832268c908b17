/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers and headers of C++ expect of a library, by their names in object files. There are no exceptions, so
 * what would throw one ends the program in a line. */
#include <stddef.h>
#include <stdlib.h>

#include "lib/machine.h"

/* Variables that are destroyed at exit are known by the address of a variable of their shared library. */
void* __dso_handle;

static void* allocate(size_t bytes) {
    void* block = malloc(bytes ? bytes : 1);
    if (!block) panic("no memory for %lu bytes of `new`", bytes);
    return block;
}

/* operator new, new[], delete, delete[] */
void* _Znwm(size_t bytes) { return allocate(bytes); }
void* _Znam(size_t bytes) { return allocate(bytes); }
/* With std::nothrow they give null where there is no memory. */
const char _ZSt7nothrow;
void* _ZnwmRKSt9nothrow_t(size_t bytes, const void* nothrow) {
    (void)nothrow;
    return malloc(bytes ? bytes : 1);
}
void* _ZnamRKSt9nothrow_t(size_t bytes, const void* nothrow) { return _ZnwmRKSt9nothrow_t(bytes, nothrow); }
void _ZdlPv(void* block) { free(block); }
void _ZdaPv(void* block) { free(block); }
void _ZdlPvm(void* block, size_t bytes) {
    (void)bytes;
    free(block);
}
void _ZdaPvm(void* block, size_t bytes) {
    (void)bytes;
    free(block);
}

void __cxa_pure_virtual(void) { panic("a function that is pure virtual was called"); }

/* std::__throw_…() */
void _ZSt17__throw_bad_allocv(void) { panic("std::bad_alloc"); }
void _ZSt28__throw_bad_array_new_lengthv(void) { panic("std::bad_array_new_length"); }
void _ZSt25__throw_bad_function_callv(void) { panic("std::bad_function_call"); }
void _ZSt19__throw_logic_errorPKc(const char* text) { panic("std::logic_error: %s", text); }
void _ZSt20__throw_length_errorPKc(const char* text) { panic("std::length_error: %s", text); }
void _ZSt20__throw_out_of_rangePKc(const char* text) { panic("std::out_of_range: %s", text); }
void _ZSt24__throw_invalid_argumentPKc(const char* text) { panic("std::invalid_argument: %s", text); }
void _ZSt24__throw_out_of_range_fmtPKcz(const char* format, ...) { panic("std::out_of_range: %s", format); }
