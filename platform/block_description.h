// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/machine.h"

namespace fabricvp {

/// What there is to know about one path of a machine: parameters with value, allowed values and help, statistics with
/// unit and help, faults that can be injected. `node.` in front stands for node0. \throws input_error with a hint if
/// there is no such path
std::string describe_block(const machine& hardware, const std::string& path);

}  // namespace fabricvp
