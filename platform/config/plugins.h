// SPDX-License-Identifier: Apache-2.0
// Loads plug-ins (platform/plugin.h). They stay loaded until the process ends, since machines use what they register.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fabricvp {

struct config_tree;

/// Loads a plug-in and lets it register its kinds, before configurations are read that name these. A file that is
/// loaded already is left alone. \throws input_error, with one line that says what is wrong with the file
void load_plugin(const std::string& file);

/// What loads plug-ins whose names end in `.py`, with an absolute path; it throws what is wrong, in one line. The
/// Python package sets it.
void set_script_loader(std::function<void(const std::string& path)> load);

/// Takes the key `plugins` out of a configuration and loads the files, whose paths start from the folder of `file`.
/// \throws input_error
void load_plugins_of(config_tree& tree, const std::string& file);

/// The files that a configuration's key `plugins` names, without loading them. \throws input_error
std::vector<std::string> plugins_of(const config_tree& tree, const std::string& file);

/// The file that holds the models: the library, or the program that they are linked into.
std::string library_file();

/// Absolute paths, in the order in which they were loaded.
const std::vector<std::string>& loaded_plugins();

}  // namespace fabricvp
