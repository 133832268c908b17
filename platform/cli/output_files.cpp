// SPDX-License-Identifier: Apache-2.0
// Files that a run writes: none may take another's place, or that of a file that the run reads.
#include <filesystem>
#include <regex>

#include <fmt/format.h>

#include "platform/cli/run_parts.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/results/run_folder.h"

namespace fabricvp::cli {
namespace {

namespace fs = std::filesystem;

struct named_file {
    std::string option, path;
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

std::vector<named_file> read_files(const options::variables_map& given) {
    std::vector<named_file> files;
    for (const char* option :
         {"CONFIG", "script", "replay", "symbols", "plugin", "kernel-elf", "firmware", "kernel", "initrd"})
        for (const auto& path : values_of(given, option)) files.push_back({option, path});
    return files;
}

std::vector<named_file> written_files(const options::variables_map& given) {
    std::vector<named_file> files;
    for (const char* option : {"capture", "record", "coverage", "junit"})
        for (const auto& path : values_of(given, option)) files.push_back({option, path});
    for (const auto& page : values_of(given, "profile")) {
        if (page == "-") continue;  // into the folder of results
        files.push_back({"profile", page});
        const fs::path path(page);
        if (path.extension() == ".html") files.push_back({"profile", fs::path(path).replace_extension(".folded")});
    }
    for (const auto& where : values_of(given, "console"))
        if (const auto path = behind("file:", where)) files.push_back({"console", *path});
    for (const auto& member : values_of(given, "arg")) {
        static const std::regex output("^(?:inout|out:[^:]*):(.+)$");  // it may be what another member is read from
        std::smatch found;
        if (std::regex_match(member, found, output)) files.push_back({"arg", found[1]});
    }
    return files;
}

std::string shown(const named_file& file) { return fmt::format("--{} {}", file.option, file.path); }

bool lies_in(const std::string& folder, const std::string& path) {
    std::error_code error;
    const auto folder_of = [&](const fs::path& file) {
        return fs::weakly_canonical(fs::absolute(file, error), error).parent_path();
    };
    return folder_of(path) == folder_of(fs::path(folder) / "any");
}

}  // namespace

/// Files of two buffers are told apart where the kernel's job is made (kernel_job.cpp).
out_folder::out_folder(const options::variables_map& given) {
    const auto outputs = written_files(given);
    const auto inputs = read_files(given);
    for (auto file = outputs.begin(); file != outputs.end(); ++file) {
        for (const auto& input : inputs)
            if (is_same_file(file->path, input.path))
                throw input_error(fmt::format("{}: the run reads that file", shown(*file)));
        for (auto other = outputs.begin(); other != file; ++other)
            if ((file->option != "arg" || other->option != "arg") && is_same_file(file->path, other->path))
                throw input_error(fmt::format("{}: --{} writes that file, too", shown(*file), other->option));
    }
    if (!given.count("out")) return;
    const auto out = text_option(given, "out");
    for (const auto& file : outputs) {
        if (!lies_in(out, file.path)) continue;
        if (file.option != "profile" && run_folder::is_result(fs::path(file.path).filename().string()))
            throw input_error(fmt::format("{}: --out writes that file, too", shown(file)));
        if (fs::exists(out)) continue;
        make_folder(out);
        m_made = out;
    }
}

out_folder::~out_folder() {
    std::error_code ignored;
    if (!m_made.empty()) fs::remove(m_made, ignored);  // unless there is something in it
}

}  // namespace fabricvp::cli
