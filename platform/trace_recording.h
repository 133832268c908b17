// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "base/trace.h"
#include "platform/common/trace_file.h"

namespace fabricvp {

/// The trace that is being recorded: into a file of the user's, or into a temporary one that goes with the process,
/// however that ends.
class trace_recording {
public:
    /// \param is_known whether blocks of that name, or pattern, would be in this process
    /// \throws input_error for a part of a filter that no block of the machine has
    static void check_names(const std::string& filter, const std::function<bool(const std::string&)>& is_known);

    /// Starts at once, and ends a trace that is still being recorded. \param what its path may be empty, for a
    /// temporary file; each part of its filter is a glob, or text that names contain
    /// \param rank of several processes, or -1
    /// \throws input_error
    trace_recording(trace::options what, trace_file form, int rank);
    ~trace_recording();
    trace_recording(const trace_recording&) = delete;
    trace_recording& operator=(const trace_recording&) = delete;

    /// Shows by how much each counter of the machine has grown since the last call.
    void sample(ticks now);

    const std::string& path() const { return m_path; }
    trace_file form() const { return m_form; }
    /// Ends the recording; harmless if it has ended.
    trace::summary stop();
    /// Ends the recording and says where the trace can be read now; a temporary one has no other name.
    /// \throws input_error if it could not be written whole
    std::string finished();

private:
    struct track {
        const sc_core::sc_object* owner;
        const counter* value;
        std::string name;
        std::uint64_t seen;   ///< value at the last sample
        std::uint64_t shown;  ///< growth that the trace shows now
    };

    trace_file m_form;
    int m_temporary = -1;  ///< open file without a name
    std::string m_path;
    std::vector<track> m_tracks;
    bool m_running = false;
    trace::summary m_summary;
};

}  // namespace fabricvp
