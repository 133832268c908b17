// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace fabricvp::python {

void bind_fabric(pybind11::module_& m);

}  // namespace fabricvp::python
