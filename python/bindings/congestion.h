// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace fabricvp::python {

/// Binds the closed-form congestion model, its schedule search and its families of graphs.
void bind_congestion(pybind11::module_& m);

}  // namespace fabricvp::python
