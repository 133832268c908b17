// SPDX-License-Identifier: Apache-2.0
// The stopwatch as a plug-in: `fabricvp run machine.yaml --plugin libstopwatch.so`.
#include "platform/plugin.h"

#include "host/device_kind.h"
#include "stopwatch.h"

FABRICVP_PLUGIN() {
    fabricvp::host::add_device_kind(
        fabricvp::host::make_device_kind<stopwatch, stopwatch_params>("stopwatch", "counts and rings"));
}
