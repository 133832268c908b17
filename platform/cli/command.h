// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "platform/apps.h"
#include "platform/cli/cli.h"
#include "platform/platform.h"

namespace fabricvp::cli {

namespace options = boost::program_options;
using arguments = std::vector<std::string>;

/// Exit statuses, part of the interface.
enum status : int { ok = 0, guest_failed = 1, bad_input = 2, interrupted = 130 };

/// One command of the program.
struct command {
    const char* name;
    const char* usage;  ///< what follows the name
    const char* summary;
    const char* example;
    options::options_description (*describe)();
    std::vector<const char*> positional;  ///< names of the arguments without dashes, all required
    int (*execute)(const options::variables_map&);
    std::vector<const char*> optional = {};  ///< further arguments without dashes
};

/// Of a command that has none.
inline options::options_description no_options() { return options::options_description(); }

command apps_command();
command list_command();
command run_command();
command check_command();
command describe_command();
command schema_command();
command reference_command();
command diff_command();
command version_command();
command replay_command();

/// Options that name a configuration's overrides and images.
options::options_description override_options();
options::options_description image_options();
/// `--plugin` alone, and what loads the files that it names. \throws input_error
options::options_description plugin_options();
void load_plugins(const options::variables_map& given);
/// A kernel of the user's own, `--kernel-elf`.
options::options_description kernel_options();
/// `--program FILE`, for the help: the Python package runs them, as --kernel-elf or on Linux.
options::options_description program_options();
/// \throws input_error if there is one of these, which this program cannot run
void check_program_options(const options::variables_map& given);

/// A platform from `config`, `--set` and further overrides; `others`: the run's other processes. \throws input_error
std::unique_ptr<platform> make_platform(const options::variables_map& given, const platform::overrides& more = {},
                                        ranks::communicator* communicator = nullptr);
/// \throws input_error for an override of a part that the machine does not have
void check_effect(const machine_params& machine, const platform::overrides& set);
/// A buffer of a kernel that goes into a file afterwards.
struct kernel_output {
    std::string file;
    std::uint64_t offset, bytes;  ///< in the RAM disk
    std::shared_ptr<void> held;   ///< keeps a FIFO open until it is written
    bool always = false;          ///< written also if the kernel has ended with a fault
};
struct kernel_launch {
    image_set images;
    std::vector<kernel_output> outputs;
    std::uint32_t lds_bytes = 0;  ///< of a work-group, as far as the options say
};
/// What launches it; nothing where no kernel is given. \param spread GPUs and policies; 0 GPUs: one \throws input_error
std::optional<kernel_launch> kernel_launch_of(const options::variables_map& given, const app_options& spread);
/// Writes the files, if the kernel has ended well; says so on standard error otherwise. \throws input_error
void write_kernel_outputs(platform& p, const std::vector<kernel_output>& outputs);
/// Loads what the command line and the configuration name, into all nodes. \returns what a kernel is to leave
/// \throws input_error
std::vector<kernel_output> load_images(platform& p, const options::variables_map& given);

/// \param complaint what is wrong with a run that ended by itself or by a time limit; empty if nothing is
int exit_status(const platform& p, const run_result& result, const std::string& failure_message);
/// One line on standard error.
void report(const platform& p, const run_result& result, const std::string& failure_message);
/// Values of --time; never unless given. \throws input_error
ticks time_limit(const options::variables_map& given);

/// --log-bus KIND[:FILTER,…]. \throws input_error
void start_bus_log(const std::string& wanted);
/// One line for each log whose queue nothing was told of, with those that there are.
void explain_empty_bus_logs();

/// Writes the results of a run into a folder, and notes it for cli_results(). \throws input_error
void write_results(platform& p, const std::string& folder);
/// Notes a folder for cli_results() that another process has written.
void note_results(const std::string& folder);

/// What `work` returns; what it throws is said in one line on standard error.
int report_errors(const std::function<int()>& work);

/// The program's name and all its arguments.
const arguments& command_line();
/// Null where the caller has none.
const page_server& page_server_of_caller();

platform::overrides overrides_of(const options::variables_map& given);
std::string text_option(const options::variables_map& given, const char* name);
/// Values of a repeatable option by node: VALUE is for node0, nodeN=VALUE for any. \throws input_error
std::map<std::size_t, std::string> by_node(const options::variables_map& given, const char* name, const platform& p);
/// A number in digits. \throws input_error
std::uint64_t number_option(const std::string& text, std::uint64_t min, std::uint64_t max, const std::string& option);

}  // namespace fabricvp::cli
