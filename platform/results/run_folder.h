// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fabricvp {

/// The folder of a run's results while they are made: no other run writes results there, and those of an earlier run
/// are gone. Other files in it stay.
class run_folder {
public:
    /// Makes the folder if need be. \throws input_error, where another run uses the folder for instance
    explicit run_folder(const std::string& path);
    ~run_folder();
    run_folder(const run_folder&) = delete;
    run_folder& operator=(const run_folder&) = delete;

    /// Whether platform::write_results(), a profile without a name of its own, or Python's pictures leave such a file.
    static bool is_result(const std::string& name);

    const std::string& path() const { return m_path; }
    /// True if `other` leads to the same folder.
    bool is(const std::string& other) const;

private:
    void clear() const;

    std::string m_path;
    int m_folder = -1;  ///< open and locked
};

}  // namespace fabricvp
