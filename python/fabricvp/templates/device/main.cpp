// SPDX-License-Identifier: Apache-2.0
// The command `fabricvp` with the device built in, for those who debug it.
#include <systemc>

#include "platform/cli/cli.h"
#include "platform/plugin.h"

extern "C" void FABRICVP_PLUGIN_ENTRY();  // of model.cpp

int sc_main(int, char*[]) { return 0; }  // SystemC's library refers to it

int main(int argc, char* argv[]) {
    FABRICVP_PLUGIN_ENTRY();
    return fabricvp::cli_main({argv + 1, argv + argc});
}
