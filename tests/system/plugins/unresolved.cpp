// SPDX-License-Identifier: Apache-2.0
// A plug-in that calls a function which no library has.
#include "platform/plugin.h"

void function_that_no_library_has();

FABRICVP_PLUGIN() { function_that_no_library_has(); }
