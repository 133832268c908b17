// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/signals.h"

#include <unistd.h>

#include "platform/cli/command.h"
#include "platform/console/stdio_console.h"

namespace fabricvp::cli {
namespace {

platform* g_running = nullptr;
volatile std::sig_atomic_t g_signals = 0;

extern "C" void stop_on_signal(int) {
    if (g_running) g_running->request_stop();
    if (++g_signals > 2) {  // the simulation does not listen
        restore_terminal();
        _exit(status::interrupted);
    }
}

}  // namespace

signal_scope::signal_scope(platform& p) {
    g_running = &p;
    g_signals = 0;
    struct sigaction action {};
    action.sa_handler = stop_on_signal;
    sigaction(SIGINT, &action, &m_interrupt);
    sigaction(SIGTERM, &action, &m_terminate);
    sigaction(SIGHUP, nullptr, &m_hang_up);
    if (m_hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup
}

signal_scope::~signal_scope() {
    sigaction(SIGINT, &m_interrupt, nullptr);
    sigaction(SIGTERM, &m_terminate, nullptr);
    sigaction(SIGHUP, &m_hang_up, nullptr);
    g_running = nullptr;
}

bool signal_scope::seen() { return g_signals != 0; }

}  // namespace fabricvp::cli
