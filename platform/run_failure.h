// SPDX-License-Identifier: Apache-2.0
// What goes wrong inside of a run and is the user's, not the guest's: a device of the user's own, in another language.
#pragma once

#include <optional>
#include <string>

namespace fabricvp {

/// Ends the run at once: rejected, with this line. The first one counts.
void fail_run(std::string why);
/// What it was; nothing if there is none. Clears it.
std::optional<std::string> take_run_failure();

}  // namespace fabricvp
