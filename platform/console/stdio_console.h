// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/console/console_backend.h"

namespace fabricvp {

/// A serial line on this process's terminal or pipes. A terminal is put into raw mode, so that the guest sees every
/// key; Ctrl-] or Ctrl-A x asks to leave, Ctrl-A Ctrl-A types Ctrl-A. The end of a pipe ends the input, not the run.
class stdio_console final : public console_backend {
public:
    /// \param interrupts Ctrl-C interrupts this process, and is not the guest's
    explicit stdio_console(bool interrupts = false);
    ~stdio_console() override;

    void write(std::string_view text) override;
    std::string poll(bool room = true) override;
    bool may_type() const override { return !m_input_ended; }
    bool is_piped() const override { return !m_terminal; }
    bool wants_quit() const override { return m_quit; }
    void abandon() override;

private:
    /// \throws input_error if standard output cannot be written (a full disk; not: the reader is gone)
    void flush();
    std::string without_escapes(std::string_view typed);

    std::string m_unwritten;
    bool m_terminal = false;         ///< standard input is one
    bool m_output_terminal = false;  ///< so is standard output
    bool m_input_ended = false;
    bool m_escape = false;  ///< Ctrl-A was typed
    bool m_quit = false;
};

/// Gives the terminal back as it was found; harmless if nothing was changed. Safe in signal handlers.
void restore_terminal();

}  // namespace fabricvp
