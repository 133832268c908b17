// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fabricvp {

struct machine_params;

/// Reads a configuration with overrides (dotted path, value) over it. \throws input_error
machine_params read_machine_params(const std::string& yaml, const std::string& name,
                                   const std::vector<std::pair<std::string, std::string>>& overrides);

/// What a configuration consists of: its file, those that it is based on, and the plug-ins of all. \throws input_error
std::vector<std::string> config_files(const std::string& path);

}  // namespace fabricvp
