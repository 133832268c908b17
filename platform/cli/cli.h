// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fabricvp {

class run_monitor;

/// Serves a page about a run on a loopback port (0: any) as long as what it returns lives. \throws input_error
using page_server = std::function<std::shared_ptr<void>(std::shared_ptr<run_monitor> run, const std::string& title,
                                                        std::uint16_t port)>;

/// The `fabricvp` command. \param arguments without the program's name \param others name and summary of commands that
/// the caller performs itself, for the overview and for the nearest name of one that is not known \param serve for
/// `run --monitor`; null: that is an error \param typed what the user has typed, for results to tell, where the caller
/// has made the arguments of that; empty: the arguments
/// \returns the exit status: 0 clean end or time limit, 1 the guest failed or the watchdog fired, 2 bad input, 130
/// Ctrl-C
int cli_main(const std::vector<std::string>& arguments,
             const std::vector<std::pair<std::string, std::string>>& others = {}, page_server serve = {},
             const std::vector<std::string>& typed = {});

/// The folders in which this process's commands have left results, for programs that go on with these.
const std::vector<std::string>& cli_results();

}  // namespace fabricvp
