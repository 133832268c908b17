// SPDX-License-Identifier: Apache-2.0
#include "platform/loader/image_paths.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include <fmt/format.h>

#include "platform/common/input_error.h"
#include "platform/common/nearest.h"
#include "platform/loader/made_images.h"

namespace fabricvp {
namespace {

namespace fs = std::filesystem;

/// Folder of the program or module that this code is part of.
fs::path own_folder() {
    Dl_info info{};
    std::error_code error;
    // A program that was found through PATH has no folder in its name.
    if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) && info.dli_fname &&
        std::strchr(info.dli_fname, '/')) {
        const auto path = fs::canonical(info.dli_fname, error);
        if (!error) return path.parent_path();
    }
    return fs::canonical("/proc/self/exe", error).parent_path();
}

/// The first folder that exists: the variable's, then each of `places` from here upwards.
std::string find_folder(const char* variable, const std::vector<std::string>& places) {
    if (const char* set = std::getenv(variable); set && *set) return set;
    const auto start = own_folder();
    for (const auto& place : places) {
        std::error_code ignored;
        const auto candidate = start / place;
        if (fs::is_directory(candidate, ignored)) return resolved_path(candidate.string());
    }
    return {};
}

std::vector<std::string> names_in(const std::string& folder, const std::string& suffix) {
    std::vector<std::string> names;
    std::error_code ignored;
    if (folder.empty()) return names;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (suffix.empty() || entry.path().extension() == suffix)
            names.push_back(suffix.empty() ? entry.path().filename().string() : entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::string hint_for(const std::string& name, const std::vector<std::string>& known) {
    const auto near = nearest_name(name, known);
    if (!near.empty()) return fmt::format(", did you mean '{}'?", near);
    return known.empty() ? "" : fmt::format(" (there are: {})", fmt::join(known, ", "));
}

/// Whether `make linux` makes a file, and no package holds it.
bool is_made_by_linux(const std::string& path) { return path.find("build/linux/") != std::string::npos; }

/// A file of `linux_folder()` in place of one that is not there; "": there is none.
std::string fetched_copy(const std::string& path) {
    std::error_code ignored;
    const auto folder = linux_folder();
    const auto copy = fs::path(folder) / fs::path(path).filename();
    return !folder.empty() && fs::exists(copy, ignored) ? copy.string() : "";
}

std::string how_to_make(const std::string& file) {
    return fmt::format("{}: no such file (`fabricvp linux fetch`, or `make linux` in a clone of FabricVP, makes it",
                       file);
}

/// The Debian package that has a file of the shipped machines, as an end of a message; empty for other files.
std::string package_hint(const std::string& file) {
    static constexpr std::pair<const char*, const char*> packages[] = {
        {"/usr/lib/riscv64-linux-gnu/opensbi/", "opensbi"}, {"/usr/lib/u-boot/", "u-boot-qemu"}};
    for (const auto& [folder, package] : packages)
        if (file.rfind(folder, 0) == 0) return fmt::format(" (Debian: apt install {})", package);
    return {};
}

}  // namespace

std::string resolved_path(const std::string& path) {
    std::error_code failed;
    const auto short_form = fs::path(path).lexically_normal();
    const auto real = fs::weakly_canonical(path, failed);
    if (failed || fs::weakly_canonical(short_form, failed) == real || failed) return short_form.string();
    return real.string();
}

std::string config_folder() {
    // installed prefix/lib, Python package's cpp/lib, build/<preset>/bin
    return find_folder("FABRICVP_CONFIGS",
                       {"../share/fabricvp/configs", "configs", "../../configs", "../../../configs"});
}

std::string firmware_folder() {
    return find_folder("FABRICVP_FIRMWARE", {"../share/fabricvp/firmware", "firmware", "../firmware",
                                             "../../firmware/bin", "../../firmware"});
}

std::string linux_folder() {
    const auto from = [](const char* variable) {
        const auto* value = std::getenv(variable);
        return value && *value ? fs::path(value) : fs::path();
    };
    if (const auto given = from("FABRICVP_LINUX"); !given.empty()) return given.string();
    if (const auto caches = from("XDG_CACHE_HOME"); !caches.empty()) return (caches / "fabricvp" / "linux").string();
    const auto home = from("HOME");
    return home.empty() ? "" : (home / ".cache" / "fabricvp" / "linux").string();
}

std::string find_image(const std::string& named, const std::string& base) {
    static const std::string own = "firmware:";
    std::error_code ignored;
    if (named.compare(0, own.size(), own) == 0) {
        const auto name = named.substr(own.size());
        const auto folder = firmware_folder();
        if (folder.empty())
            throw input_error(
                fmt::format("{}: no folder of built firmware found; set FABRICVP_FIRMWARE", quoted(named)));
        const auto path = fs::path(folder) / name;
        if (!fs::exists(path, ignored))
            throw input_error(fmt::format("{}: no such firmware in {}{}", quoted(named), folder,
                                          hint_for(name, names_in(folder, ""))));
        return path.string();
    }
    auto path = fs::path(named);
    if (path.is_relative() && !base.empty()) path = fs::path(base) / path;
    const auto found = resolved_path(path.string());
    if (fs::exists(path, ignored)) return found;
    if (!is_made_by_linux(found)) throw input_error(fmt::format("{}: no such file{}", found, package_hint(found)));
    if (const auto copy = fetched_copy(found); !copy.empty()) return copy;
    throw input_error(how_to_make(found) + "; --kernel and --initrd name it elsewhere)");
}

std::string made_image(const std::string& path) {
    std::error_code ignored;
    return !is_made_by_linux(path) || fs::exists(path, ignored) ? path : fetched_copy(path);
}

void require_made_image(const std::string& path) {
    if (!path.empty() && made_image(path).empty()) throw input_error(how_to_make(path) + ")");
}

std::string find_config(const std::string& named) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(named, ignored);  // of results, say
    if (!is_folder && fs::exists(named, ignored)) return named;
    const auto folder = config_folder();
    const bool is_name = named.find('/') == std::string::npos && !named.empty();
    if (is_name && !folder.empty()) {
        const auto stock = fs::path(folder) / (fs::path(named).extension() == ".yaml" ? named : named + ".yaml");
        if (fs::exists(stock, ignored)) return stock.string();
    }
    if (is_folder) return named;
    throw input_error(fmt::format("{}: no such configuration{}", quoted(named),
                                  is_name ? hint_for(fs::path(named).stem().string(), names_in(folder, ".yaml")) : ""));
}

}  // namespace fabricvp
