/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of programs that call OpenCL: a line for each, and how many were wrong. */
#ifndef FABRICVP_TESTS_OPENCL_CHECKS_H
#define FABRICVP_TESTS_OPENCL_CHECKS_H

#include <CL/cl.h>
#include <stdio.h>

static unsigned wrong;

static void check(const char* what, int good) {
    printf("%-60s %s\n", what, good ? "ok" : "FAILED");
    wrong += !good;
}

static void expect(const char* what, cl_int found, cl_int wanted) {
    check(what, found == wanted);
    if (found != wanted) printf("  %d, not %d\n", found, wanted);
}

/* A call that is to succeed. */
#define CL(call)                                                        \
    do {                                                                \
        const cl_int error_ = (call);                                   \
        if (error_) printf("FAILED: %s: %d\n", #call, error_), ++wrong; \
    } while (0)

#endif
