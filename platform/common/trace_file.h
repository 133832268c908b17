// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fabricvp {

/// Forms of a trace's file.
enum class trace_file { json, protobuf };

/// Its name in a folder of results.
inline std::string name_of(trace_file form) { return form == trace_file::json ? "trace.json" : "trace.pftrace"; }

/// \throws input_error for what is neither "json" nor "protobuf"
trace_file parse_trace_file(const std::string& text);

}  // namespace fabricvp
