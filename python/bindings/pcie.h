// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace fabricvp::python {

/// Binds messages between a node's copy engines.
void bind_pcie(pybind11::module_& m);

}  // namespace fabricvp::python
