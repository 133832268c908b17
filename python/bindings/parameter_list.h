// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace fabricvp::python {

/// One parameter with its value, as Python sees it.
struct parameter_record {
    std::string path, kind, text, allowed, help;
    pybind11::object value;
};

/// All parameters of a resolved configuration, in the order of their description.
pybind11::list list_parameters(const std::string& resolved_yaml);

}  // namespace fabricvp::python
