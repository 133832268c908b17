// SPDX-License-Identifier: Apache-2.0
#include "platform/results/run_folder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <regex>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/common/files.h"
#include "platform/common/input_error.h"

namespace fabricvp {
namespace {

namespace fs = std::filesystem;

/// What a run that was killed meanwhile leaves of a result.
bool is_unfinished(const std::string& name) {
    static const std::regex temporary(R"((.*)\.\d+\.tmp)");
    std::smatch found;
    return std::regex_match(name, found, temporary) && run_folder::is_result(found[1]);
}

}  // namespace

bool run_folder::is_result(const std::string& name) {
    static const std::regex names(
        R"(run\.json|stats\.(json|csv)|config\.resolved\.yaml|regions\.json|trace\.(json|pftrace)|)"
        R"(profile\.(html|folded)|topology\.json|machine\.svg|fabric(\.node\d+)?\.svg|)"
        R"(console\.node\d+\.(log|input)|initrd\.node\d+\.img)");
    return std::regex_match(name, names);
}

run_folder::run_folder(const std::string& path) : m_path(path) {
    make_folder(path);
    m_folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (m_folder < 0) throw input_error(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
    // Some network file systems know no locks on folders; there, this is left to the user.
    if (::flock(m_folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(m_folder);
        throw input_error(path + ": another run is leaving its results there");
    }
    clear();
}

run_folder::~run_folder() { ::close(m_folder); }

bool run_folder::is(const std::string& other) const {
    std::error_code ignored;
    return fs::equivalent(m_path, other, ignored);
}

void run_folder::clear() const {
    std::vector<fs::path> old;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(m_path, error))
        if (const auto name = entry.path().filename().string(); is_result(name) || is_unfinished(name))
            old.push_back(entry.path());
    for (const auto& file : old)
        if (!error) fs::remove(file, error);
    if (!error) return;
    ::close(m_folder);
    throw input_error(fmt::format("{}: cannot remove the results of an earlier run: {}", m_path, error.message()));
}

}  // namespace fabricvp
