// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/fork_ranks.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/common/input_error.h"
#include "platform/ranks/processors.h"
#include "platform/ranks/ring_communicator.h"

namespace fabricvp::ranks {

namespace {

volatile std::sig_atomic_t g_signal = 0;

/// A child's end only ends the wait: it must not hide a signal that came just before.
extern "C" void note_signal(int signal) {
    if (signal != SIGCHLD) g_signal = signal;
}

/// Signals that end a run reach this process between two looks only.
class signal_gate {
public:
    signal_gate() {
        sigemptyset(&m_blocked);
        for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&m_blocked, s);
        sigprocmask(SIG_BLOCK, &m_blocked, &m_before);
        struct sigaction action {};
        action.sa_handler = note_signal;
        sigaction(SIGINT, &action, &m_interrupt);
        sigaction(SIGTERM, &action, &m_terminate);
        sigaction(SIGHUP, nullptr, &m_hang_up);
        if (m_hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup
        sigaction(SIGCHLD, &action, &m_child);
        g_signal = 0;
    }
    ~signal_gate() {
        sigaction(SIGINT, &m_interrupt, nullptr);
        sigaction(SIGTERM, &m_terminate, nullptr);
        sigaction(SIGHUP, &m_hang_up, nullptr);
        sigaction(SIGCHLD, &m_child, nullptr);
        sigprocmask(SIG_SETMASK, &m_before, nullptr);
    }
    /// In a child, until it handles signals itself: it dies of them.
    void open_in_child() const {
        for (const int s : {SIGINT, SIGTERM, SIGCHLD}) std::signal(s, SIG_DFL);
        sigaction(SIGHUP, &m_hang_up, nullptr);
        sigprocmask(SIG_SETMASK, &m_before, nullptr);
    }
    /// Waits for one. \returns which; 0: a child has ended
    int wait() const {
        g_signal = 0;
        sigset_t open = m_before;
        for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigdelset(&open, s);
        sigsuspend(&open);
        return g_signal;
    }

private:
    sigset_t m_blocked{}, m_before{};
    struct sigaction m_interrupt {
    }, m_terminate{}, m_hang_up{}, m_child{};
};

/// Ranks that share a processor stay there: to wake one of them there is a matter of two switches.
void stay_at_seat(const shared_segment& segment, unsigned rank) {
    const auto processors = usable_processors();
    if (!segment.seats() || processors.size() < segment.seats()) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processors[segment.seat_number(rank)], &set);
    sched_setaffinity(0, sizeof set, &set);
}

/// In a child. An exception ends it (SIGABRT): further up stands what its parent does, which has the other children.
[[noreturn]] void run_rank(shared_segment& segment, unsigned rank, pid_t parent, const signal_gate& gate,
                           const rank_work& work) noexcept {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it died before
    prctl(PR_SET_NAME, fmt::format("rank{}", rank).c_str());
    gate.open_in_child();
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0 && nothing != STDIN_FILENO) {
        ::dup2(nothing, STDIN_FILENO);
        ::close(nothing);
    }
    stay_at_seat(segment, rank);
    ring_communicator communicator(segment, rank);
    const int status = work(communicator, [&] { segment.state(rank).results_written = true; });
    std::fflush(nullptr);
    ::_exit(status);  // what this process has of the caller's is not its own to end
}

/// The children, by rank; 0: it has ended.
class family {
public:
    ~family() {
        kill_all(SIGKILL);
        for (const auto pid : pids)
            if (pid > 0) ::waitpid(pid, nullptr, 0);
    }
    std::vector<pid_t> pids;

    void kill_all(int signal) const {
        for (const auto pid : pids)
            if (pid > 0) ::kill(pid, signal);
    }
    bool some_left() const {
        return std::any_of(pids.begin(), pids.end(), [](pid_t pid) { return pid > 0; });
    }
};

}  // namespace

forked_run fork_ranks(unsigned count, const rank_work& work) {
    shared_segment segment(count);
    const auto parent = ::getpid();
    std::fflush(nullptr);
    const signal_gate gate;
    family ranks;
    for (unsigned r = 0; r < count; ++r) {
        const auto pid = ::fork();
        if (pid == 0) run_rank(segment, r, parent, gate, work);
        if (pid < 0) throw input_error(fmt::format("--ranks {}: no process: {}", count, std::strerror(errno)));
        ranks.pids.push_back(pid);
    }
    forked_run run{0, false};
    bool failed = false;
    int passed_on = 0;  // the last signal
    while (ranks.some_left()) {
        for (unsigned r = 0; r < count; ++r) {
            int status = 0;
            if (ranks.pids[r] <= 0 || ::waitpid(ranks.pids[r], &status, WNOHANG) != ranks.pids[r]) continue;
            ranks.pids[r] = 0;
            if (failed) continue;  // it was ended
            const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            if (WIFEXITED(status) && segment.state(r).finished) {
                if (r == 0) run.status = exit;
                continue;
            }
            failed = true;
            run.status = exit ? exit : 1;
            if (WIFSIGNALED(status) && WTERMSIG(status) != passed_on)
                std::fputs(fmt::format("fabricvp: rank {} has died of signal {} ({}): the run has ended, and left no "
                                       "results\n",
                                       r, WTERMSIG(status), strsignal(WTERMSIG(status)))
                               .c_str(),
                           stderr);
            ranks.kill_all(SIGKILL);
        }
        if (!ranks.some_left()) break;
        if (const int signal = gate.wait()) {
            passed_on = signal;
            ranks.kill_all(signal);
        }
    }
    run.results_written = !failed && segment.state(0).results_written;
    return run;
}

}  // namespace fabricvp::ranks
