// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace fabricvp {

struct junit_case {
    std::string name;
    double seconds = 0;
    std::string failure;  ///< empty: none
    std::string skipped;  ///< why it was not tried; empty: it was
};

struct junit_suite {
    std::string name;
    std::vector<junit_case> cases;
    std::string output;  ///< any bytes; the last 64 KiB are kept
};

/// Results as most CI servers read them. Well-formed for any bytes: what XML cannot hold is shown as `\xNN`.
std::string junit_xml(const std::vector<junit_suite>& suites);

}  // namespace fabricvp
