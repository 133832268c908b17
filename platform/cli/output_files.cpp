// SPDX-License-Identifier: Apache-2.0
// Files that a run writes: none may take another's place, or that of a file that the run reads.
#include <filesystem>
#include <regex>

#include <fmt/format.h>

#include "platform/cli/run_parts.h"
#include "platform/common/input_error.h"

namespace fabricvp::cli {
namespace {

namespace fs = std::filesystem;

struct named_file {
    std::string option, path;
    bool written;
};

/// All values of an option, without the node that they are for.
std::vector<std::string> values_of(const options::variables_map& given, const std::string& option) {
    if (!given.count(option)) return {};
    const auto& value = given[option].value();
    auto values =
        value.type() == typeid(arguments) ? given[option].as<arguments>() : arguments{given[option].as<std::string>()};
    static const std::regex node("^node[0-9]+=");
    for (auto& text : values) text = std::regex_replace(text, node, "");
    return values;
}

/// What stands behind `prefix`; nothing where the text does not begin so.
std::optional<std::string> behind(const std::string& prefix, const std::string& text) {
    if (text.compare(0, prefix.size(), prefix) != 0) return {};
    return text.substr(prefix.size());
}

std::vector<named_file> named_files(const options::variables_map& given) {
    std::vector<named_file> files;
    for (const char* option :
         {"CONFIG", "script", "replay", "symbols", "plugin", "kernel-elf", "firmware", "kernel", "initrd"})
        for (const auto& path : values_of(given, option)) files.push_back({option, path, false});
    for (const char* option : {"capture", "record", "coverage", "junit", "profile"})
        for (const auto& path : values_of(given, option))
            if (path != "-") files.push_back({option, path, true});
    for (const auto& where : values_of(given, "console"))
        if (const auto path = behind("file:", where)) files.push_back({"console", *path, true});
    for (const auto& member : values_of(given, "arg")) {
        static const std::regex output("^(?:inout|out:[^:]*):(.+)$");  // it may be what another member is read from
        std::smatch found;
        if (std::regex_match(member, found, output)) files.push_back({"arg", found[1], true});
    }
    return files;
}

/// Not of devices and FIFOs, which several can write to.
bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    const auto status = fs::status(a, error);
    if (fs::exists(status)) return fs::is_regular_file(status) && fs::equivalent(a, b, error);
    const auto first = fs::weakly_canonical(fs::absolute(a, error), error);
    const auto second = fs::weakly_canonical(fs::absolute(b, error), error);
    return !first.empty() && first == second;
}

std::string shown(const named_file& file) { return fmt::format("--{} {}", file.option, file.path); }

}  // namespace

void check_output_files(const options::variables_map& given) {
    const auto files = named_files(given);
    for (std::size_t i = 0; i < files.size(); ++i)
        for (std::size_t j = i + 1; j < files.size(); ++j) {
            if (!files[j].written || !is_same_file(files[j].path, files[i].path)) continue;
            throw input_error(files[i].written
                                  ? fmt::format("{}: --{} writes that file, too", shown(files[j]), files[i].option)
                                  : fmt::format("{}: the run reads that file", shown(files[j])));
        }
}

}  // namespace fabricvp::cli
