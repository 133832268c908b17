// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace fabricvp::python {

/// Binds GPUs of a node, and the applications that run on them.
void bind_gpu(pybind11::module_& m);

}  // namespace fabricvp::python
