// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "platform/cli/command.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/common/terminal.h"
#include "platform/config/config_tree.h"
#include "platform/loader/image_paths.h"

namespace fabricvp::cli {
namespace {

namespace fs = std::filesystem;

/// The first sentence of the comment that a configuration opens with.
std::string summary_of(const fs::path& file) {
    std::istringstream lines(read_file(file.string(), config_limits::file_bytes));
    std::string text;
    for (std::string line; std::getline(lines, line) && line.compare(0, 1, "#") == 0;) {
        if (line.find("SPDX-License-Identifier") != std::string::npos) continue;
        const auto words = line.find_first_not_of("# ");
        if (words == std::string::npos || line.compare(0, 4, "#   ") == 0) break;  // a command
        text += (text.empty() ? "" : " ") + line.substr(words);
        if (const auto end = text.find(". "); end != std::string::npos) return text.substr(0, end + 1);
    }
    if (!text.empty() && text.back() == ':') text.back() = '.';
    return text;
}

int list(const options::variables_map&) {
    const auto folder = config_folder();
    std::vector<fs::path> files;
    std::error_code ignored;
    if (!folder.empty())
        for (const auto& entry : fs::directory_iterator(folder, ignored))
            if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    if (files.empty()) throw input_error("no folder of configurations found; set FABRICVP_CONFIGS");
    std::sort(files.begin(), files.end());
    std::size_t width = 0;
    for (const auto& f : files) width = std::max(width, f.stem().string().size());
    for (const auto& f : files)
        fmt::print("{}\n", fitted(fmt::format("{:<{}}  {}", f.stem().string(), width, summary_of(f)), width + 2));
    return status::ok;
}

}  // namespace

command list_command() {
    return {"list",
            "",
            "Lists the machines that come with the project, for `fabricvp run NAME`.",
            "fabricvp list",
            no_options,
            {},
            list};
}

}  // namespace fabricvp::cli
