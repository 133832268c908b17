// SPDX-License-Identifier: Apache-2.0
// Pages of memories that are not all zeros.
#pragma once

#include <pybind11/pybind11.h>

namespace fabricvp::python {

/// Binds pages in use of nodes and GPUs.
void bind_pages_in_use(pybind11::module_& m);

}  // namespace fabricvp::python
