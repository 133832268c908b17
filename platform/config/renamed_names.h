// SPDX-License-Identifier: Apache-2.0
// Names that earlier versions had. A user who writes one is told what it is called now.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fabricvp {

/// What a key of a configuration was renamed to, if that is one of `known`; else empty.
std::string renamed_key(const std::string& old_key, const std::vector<std::string>& known);

/// The same for the value of a key.
std::string renamed_value(const std::string& key, const std::string& old_value);

/// The same for an option of the command line ("--tiles"), or its value ("--form published").
std::string renamed_option(const std::string& old_option);

/// The same for the path of a statistic, or the beginning of one: `exists` tells which paths there are. Elements of the
/// path are replaced until it does.
std::string renamed_path(const std::string& old_path, const std::function<bool(const std::string&)>& exists);

/// The present name of a parameter or statistic that a run of an earlier version had, where it is not known which paths
/// there are. Paths that were not renamed stay.
std::string current_path(const std::string& old_path);

/// Whether a run of this version (as run.json has it) gave names to its results that `current_path()` has to change.
bool has_earlier_names(const std::string& version);

/// "KIND 'OLD' is now called 'NEW'", the end of a message.
std::string now_called(const std::string& old_name, const std::string& new_name);

}  // namespace fabricvp
