// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <systemc>

#include "platform/cli/cli.h"

// SystemC's library refers to it; this program has its own main, so that arguments and start-up stay ours.
int sc_main(int, char*[]) { return 0; }

int main(int argc, char* argv[]) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
    return fabricvp::cli_main({argv + 1, argv + argc});
}
