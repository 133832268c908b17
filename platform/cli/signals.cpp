// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/signals.h"

#include <ctime>

#include <unistd.h>

#include "platform/cli/command.h"
#include "platform/console/stdio_console.h"

namespace fabricvp::cli {
namespace {

platform* g_running = nullptr;
volatile std::sig_atomic_t g_signals = 0;
timespec g_first{};

extern "C" void stop_on_signal(int) {
    if (g_running) g_running->request_stop();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const auto since = (now.tv_sec - g_first.tv_sec) * 1000 + (now.tv_nsec - g_first.tv_nsec) / 1'000'000;
    if (g_signals++ == 0) {
        g_first = now;
    } else if (since > 100) {  // not the same one by another route, as mpirun and shells pass it on
        restore_terminal();
        _exit(status::interrupted);
    }
}

/// Comes again each second until the hard limit.
extern "C" void stop_on_limit(int) {
    if (g_running) g_running->request_stop();
    if (g_signals == 0) g_signals = 1;
}

}  // namespace

signal_scope::signal_scope(platform& p) {
    g_running = &p;
    g_signals = 0;
    struct sigaction action {};
    action.sa_handler = stop_on_signal;
    sigaction(SIGINT, &action, &m_interrupt);
    sigaction(SIGTERM, &action, &m_terminate);
    struct sigaction limit {};
    limit.sa_handler = stop_on_limit;
    sigaction(SIGXCPU, &limit, &m_processor_time);
    sigaction(SIGHUP, nullptr, &m_hang_up);
    if (m_hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup
}

signal_scope::~signal_scope() {
    sigaction(SIGINT, &m_interrupt, nullptr);
    sigaction(SIGTERM, &m_terminate, nullptr);
    sigaction(SIGHUP, &m_hang_up, nullptr);
    sigaction(SIGXCPU, &m_processor_time, nullptr);
    g_running = nullptr;
}

bool signal_scope::seen() { return g_signals != 0; }

}  // namespace fabricvp::cli
