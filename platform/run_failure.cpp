// SPDX-License-Identifier: Apache-2.0
#include "platform/run_failure.h"

#include <utility>

#include "base/calendar.h"

namespace fabricvp {
namespace {

std::optional<std::string>& pending() {
    static std::optional<std::string> why;
    return why;
}

}  // namespace

void fail_run(std::string why) {
    if (!pending()) pending() = std::move(why);
    calendar::current().stop();
}

std::optional<std::string> take_run_failure() { return std::exchange(pending(), std::nullopt); }

}  // namespace fabricvp
