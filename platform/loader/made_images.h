// SPDX-License-Identifier: Apache-2.0
// Images of disks that `make linux` makes: a machine can be built and read without them, and not run.
#pragma once

#include <string>

namespace fabricvp {

/// What a disk is built with: the file itself, its copy in `linux_folder()`, or "" where `make linux` has not made it.
/// Other files are as they were, there or not.
std::string made_image(const std::string& path);

/// \throws input_error for a file that `make linux` has not made
void require_made_image(const std::string& path);

}  // namespace fabricvp
