// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace fabricvp {

/// The `fabricvp` command. \param arguments without the program's name
/// \returns the exit status: 0 clean end or time limit, 1 the guest failed or the watchdog fired, 2 bad input, 130
/// Ctrl-C
int cli_main(const std::vector<std::string>& arguments);

/// The folders in which this process's commands have left results, for programs that go on with these.
const std::vector<std::string>& cli_results();

}  // namespace fabricvp
