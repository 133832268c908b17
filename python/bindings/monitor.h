// SPDX-License-Identifier: Apache-2.0
// Runs that are looked at: python/fabricvp/monitor.py serves the page.
#pragma once

#include <pybind11/pybind11.h>

#include "platform/cli/cli.h"

namespace fabricvp::python {

void bind_monitor(pybind11::module_& m);

/// Calls a Python function with the run, a title and a port. What it gives has close().
page_server page_server_of(pybind11::object function);

}  // namespace fabricvp::python
