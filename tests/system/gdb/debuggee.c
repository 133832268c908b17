// SPDX-License-Identifier: Apache-2.0
// What the debugger looks at: hart 0 goes round in main, the others count in worker, until `quit` is set: 1 ends well,
// others are the status of a failure.
#include "abi/finisher.h"
#include "abi/memory_map.h"

volatile int quit;
volatile int rounds;
volatile long written;     // by main, once a round
volatile long inbox = 42;  // read by main, once a round
volatile double ratio = 0.25;
volatile unsigned long counts[4];

int square(int x) {  // steps.gdb names lines of this file by number
    int result = x * x;
    return result;
}

int descend(int depth) {
    if (depth == 0) return square(rounds);
    int below = descend(depth - 1);
    return below + 1;
}

double scale(double by) {
    double scaled = ratio * by;
    return scaled;
}

static void one_round(void) {
    rounds = rounds + 1;
    written = descend(3);
    ratio = scale(2.0);
    if (inbox != 42) quit = 1;
}

int main(void) {
    while (!quit) one_round();
    *(volatile unsigned*)(VIRT_FINISHER_BASE + FINISHER_COMMAND) =
        quit == 1 ? FINISHER_PASS : FINISHER_FAIL | quit << 16;
    for (;;) {
    }
}

void worker(unsigned long hart) {
    for (;;) counts[hart] = counts[hart] + 1;
}
