// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace fabricvp::python {

/// Binds the recorder of where the time of accesses went.
void bind_spans(pybind11::module_& m);

}  // namespace fabricvp::python
