/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for gaussian.cu of Rodinia (public_suites.py), and includes it as it is: the program has a switch that keeps
 * it from printing its results, and none that lets it. So the solution is printed behind its first words afterwards. */
#include <stdio.h>

extern int Size;
extern float* finalVec;

static void solution() {
    static bool done;
    if (done || !finalVec) return;
    done = true;
    fprintf(stdout, "The final solution is:\n");
    for (int i = 0; i < Size; ++i) fprintf(stdout, "%.6g\n", finalVec[i]);
    fprintf(stdout, "Time\n");
}
#define printf(...) (printf(__VA_ARGS__), solution())
#include "gaussian.cu"
