// SPDX-License-Identifier: Apache-2.0
// What runs of one process and of several have in common.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "platform/cli/command.h"
#include "platform/common/files.h"

namespace fabricvp::cli {

/// The machine with its images, as far as this process has them. \param outputs what a kernel is to leave
/// \throws input_error
std::unique_ptr<platform> prepare(const options::variables_map& given, ranks::communicator* communicator,
                                  std::vector<kernel_output>& outputs);
/// The folder of --out, made before files in it are looked at, and gone again where the run leaves nothing there.
class out_folder {
public:
    /// \throws input_error where a file that is written would take another's place, or that of a file that is read
    explicit out_folder(const options::variables_map& given);
    ~out_folder();
    out_folder(const out_folder&) = delete;
    out_folder& operator=(const out_folder&) = delete;

private:
    std::string m_made;
};
/// A page about the run (--monitor), as long as what is returned lives; null: none is wanted. With ranks in rank 0,
/// once all have made their monitor. \throws input_error
std::shared_ptr<void> serve_page(platform& p, const options::variables_map& given);
/// A machine in which nothing happens would run until its watchdog sees that, or for ever. \throws input_error for one,
/// unless there is an end, or something that may load software
void require_work(const platform& p, const options::variables_map& given);
void configure_consoles(platform& p, const options::variables_map& given);
/// The file of --junit, to be held while the run lasts. \throws input_error
held_file check_junit(const options::variables_map& given);
/// Writes it, if it is given. \param failure why the run failed; empty: it did not
void write_junit(const platform& p, const options::variables_map& given, const std::string& failure);
/// Begins what --profile and --coverage want. \returns where the profile's page goes; nothing without --profile
/// \throws input_error
std::string start_profile(platform& p, const options::variables_map& given);
/// The file of --coverage, to be held while the run lasts. \throws input_error
held_file check_coverage(const options::variables_map& given);
/// Writes both. \param page of start_profile() \throws input_error
void write_profile(platform& p, const options::variables_map& given, const std::string& page);
/// The last line of a run.
void conclude(const platform& p, const run_result& result, const std::string& failure_message, int exit, bool quiet);

/// Where a run has several ranks, or is to have them. \returns the exit status; nothing for a run of one process
/// \throws input_error
std::optional<int> run_ranks(const options::variables_map& given);

}  // namespace fabricvp::cli
