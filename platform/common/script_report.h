// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace fabricvp {

enum class script_progress : std::uint8_t { waits, under_way, done };

/// How far one line of a console's script has come, if it types or waits.
struct script_line {
    std::size_t line;
    std::string source;  ///< as it is written
    script_progress progress;
    ticks begin, end;  ///< where it has begun and is done
};

/// How far a script has come.
struct script_report {
    std::string name;  ///< of the file
    std::string failure, current_line;
    std::vector<script_line> lines;
};

}  // namespace fabricvp
