// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fabricvp {

/// Folder that holds the stock configurations: $FABRICVP_CONFIGS, else beside the executable or the source tree.
std::string config_folder();
/// Folder that holds our own built firmware: $FABRICVP_FIRMWARE, else beside the executable or the build tree.
std::string firmware_folder();
/// Where `fabricvp linux fetch` puts Debian's kernel and tools: FABRICVP_LINUX, or a folder of the user's cache; "":
/// none.
std::string linux_folder();

/// Path of the file that an image parameter names: absolute, relative to `base`, or `firmware:NAME`.
/// \throws input_error if it does not exist
std::string find_image(const std::string& named, const std::string& base);

/// The path without `.` and `..`, as the system resolves it: `..` behind a symbolic link is the parent of what it links
/// to.
std::string resolved_path(const std::string& path);

/// Path of a configuration: a file, or the name of a stock one ("uboot"). \throws input_error with a hint
std::string find_config(const std::string& named);

}  // namespace fabricvp
