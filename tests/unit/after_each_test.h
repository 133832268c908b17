// SPDX-License-Identifier: Apache-2.0
// What a bench wants to have checked when a test case ends, and when the program does, in every test that includes it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fabricvp::test {

/// Each gives what is wrong, and then the program fails; or nothing. It is told whether that was the last test case.
std::vector<std::function<std::string(bool last)>>& after_each_test();

}  // namespace fabricvp::test
