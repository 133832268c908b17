// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "platform/platform.h"

namespace fabricvp::cli {

namespace options = boost::program_options;
using arguments = std::vector<std::string>;

/// Exit statuses, part of the interface.
enum status : int { ok = 0, guest_failed = 1, bad_input = 2, interrupted = 130 };

/// One command of the program.
struct command {
    const char* name;
    const char* usage;     ///< what follows the name
    const char* summary;
    const char* example;
    options::options_description (*describe)();
    std::vector<const char*> positional;  ///< names of the arguments without dashes, all required
    int (*execute)(const options::variables_map&);
};

command apps_command();
command run_command();
command check_command();
command describe_command();
command schema_command();
command reference_command();
command diff_command();
command version_command();

/// Options that name a configuration's overrides and images.
options::options_description override_options();
options::options_description image_options();

/// A platform from `config` and `--set`. \throws input_error
std::unique_ptr<platform> make_platform(const options::variables_map& given);
/// Images of the command line. \throws input_error
image_set images_of(const options::variables_map& given);

std::string text_option(const options::variables_map& given, const char* name);

}  // namespace fabricvp::cli
