// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/mpirun.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/common/input_error.h"

extern char** environ;

namespace fabricvp::ranks {

namespace {

/// Set in the environment of ranks, whose standard error is a pipe of mpirun's.
constexpr struct { const char *name, *value; } no_progress{"FABRICVP_PROGRESS", "0"};

volatile std::sig_atomic_t g_mpirun = 0;

extern "C" void forward_signal(int signal) {
    if (g_mpirun > 0) ::kill(static_cast<pid_t>(g_mpirun), signal);
}

std::vector<std::string> own_command() {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
    return words;
}

/// What mpirun itself has to say stands between two lines of dashes; all else is the ranks'.
class output_filter {
public:
    explicit output_filter(int from) : m_from(from) {}

    void listen() {
        char buffer[4096];
        for (ssize_t n; (n = ::read(m_from, buffer, sizeof buffer)) != 0;) {
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) break;
            m_text.append(buffer, static_cast<std::size_t>(n));
            for (auto end = m_text.find('\n'); end != std::string::npos; end = m_text.find('\n')) {
                line(m_text.substr(0, end));
                m_text.erase(0, end + 1);
            }
        }
        if (!m_text.empty()) line(m_text);
    }
    /// What mpirun has said.
    const std::string& messages() const { return m_messages; }

private:
    void line(const std::string& text) {
        const bool dashes = text.size() > 60 && text.find_first_not_of('-') == std::string::npos;
        if (dashes)
            m_mpirun = !m_mpirun;
        else if (m_mpirun)
            m_messages += text + ' ';
        else
            std::fputs((text + '\n').c_str(), stderr);
    }

    int m_from;
    bool m_mpirun = false;
    std::string m_text, m_messages;
};

/// How a rank has died, by mpirun's words.
std::string exit_report(const std::string& messages) {
    std::smatch found;
    if (std::regex_search(messages, found, std::regex(R"(process rank (\d+) .*exited on signal (\d+) \(([^)]*)\))")))
        return fmt::format("rank {} has died of signal {} ({}): the run has ended, and left no results", found[1].str(),
                           found[2].str(), found[3].str());
    return {};
}

}  // namespace

bool shown_on_terminal() {
    const char* value = std::getenv(no_progress.name);
    return !value || std::strcmp(value, no_progress.value) != 0;
}

int mpirun(unsigned count) {
    std::vector<std::string> words = {"mpirun", "-n", std::to_string(count), "--oversubscribe", "--bind-to", "none"};
    if (::geteuid() == 0) words.push_back("--allow-run-as-root");
    const auto own = own_command();
    words.insert(words.end(), own.begin(), own.end());
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);

    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw input_error(fmt::format("--transport mpi: no pipe: {}", std::strerror(errno)));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    std::fflush(nullptr);
    ::setenv("HWLOC_HIDE_ERRORS", "2",
             0);  // where there is no /sys (containers), hwloc has several lines to say about it
    if (!isatty(STDERR_FILENO)) ::setenv(no_progress.name, no_progress.value, 1);
    pid_t child = 0;
    const int failed = ::posix_spawnp(&child, "mpirun", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (failed)
        throw input_error(fmt::format("--transport mpi: mpirun cannot be started: {} (Debian: apt install openmpi-bin)",
                                      std::strerror(failed)));

    g_mpirun = child;
    struct sigaction action {
    }, interrupt, terminate;
    action.sa_handler = forward_signal;
    sigaction(SIGINT, &action, &interrupt);
    sigaction(SIGTERM, &action, &terminate);
    output_filter said(ends[0]);
    said.listen();
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    sigaction(SIGINT, &interrupt, nullptr);
    sigaction(SIGTERM, &terminate, nullptr);

    const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (const auto how = exit_report(said.messages()); !how.empty()) {
        std::fputs(fmt::format("fabricvp: {}\n", how).c_str(), stderr);
        return exit ? exit : 1;
    }
    if (exit > 2 && exit != 130)
        std::fputs(fmt::format("fabricvp: a rank has failed: {}\n", said.messages()).c_str(), stderr);
    return exit;
}

}  // namespace fabricvp::ranks
