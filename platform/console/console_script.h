// SPDX-License-Identifier: Apache-2.0
// A dialogue with a guest over its serial line, from a file of lines:
//
//     timeout 30 s            # simulated time that each of the next lines may take; 10 s at first
//     expect Hit any key      # wait until the console has shown this text
//     expect /U-Boot [0-9.]+/ # or something that a regular expression in RE2's syntax matches
//     type " "                # type this text; in quotes, \n \r \t \\ \" and \xNN mean what they do in C
//     prompt "=> "            # what stands in front of a command, at the start of a line
//     command version         # type the line and Enter, and wait for the next prompt
//     finish                  # at the end: let the guest run until it ends by itself; else the run ends behind the
//     last line
//
// A text with ` #` in it stands in quotes. What a line has seen is not seen again by the next one.
//
// Guests choose what is searched, so a search takes linear time and a fixed stack, and sees the last 64 KiB at most.
// Bytes are Latin-1 characters; `^` and `$` are the borders of lines.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "platform/common/script_report.h"

namespace re2 {
class RE2;
}

namespace fabricvp {

class console_script {
public:
    /// \param name of the file, for messages \throws input_error with file and line
    console_script(const std::string& text, const std::string& name);

    /// What types on the line; before begin().
    std::function<void(std::string_view)> type;

    void begin(ticks now);
    /// The guest printed a byte.
    void on_byte(char c, ticks now);
    /// To be called now and then: regular expressions and time-outs are looked at.
    void poll(ticks now);

    /// All lines are done.
    bool done() const { return m_next == m_steps.size(); }
    /// Behind the last line, the guest is to end by itself.
    bool finishes() const { return m_finish; }
    /// When the present line's time is over; `never` if none is under way.
    ticks deadline() const { return waiting() ? m_deadline : never; }
    /// Each line that types or waits, in order.
    script_report report() const;
    /// What went wrong, with file and line; empty so far.
    const std::string& failure() const { return m_failure; }
    /// The line that is under way, for messages about a guest that ended meanwhile; empty if done.
    std::string current_line() const;

private:
    enum class kind { expect, type };
    struct step {
        kind what;
        std::size_t line;
        std::string source;  ///< the line as it is written
        std::string text;
        bool at_line_start;                 ///< a prompt: `==> ` within a line does not show `=> `
        std::shared_ptr<re2::RE2> pattern;  ///< null: `text` is searched as it is
        ticks timeout;
        ticks begin = never, end = never;
    };
    class parser;

    bool waiting() const { return m_begun && !done() && m_failure.empty(); }
    void advance(ticks now);
    void pass(ticks now);
    std::size_t find() const;
    void consume(std::size_t end);

    std::string m_name;
    std::vector<step> m_steps;
    bool m_finish = false;
    std::size_t m_next = 0;
    bool m_begun = false;
    ticks m_deadline = never;
    std::string m_text;        ///< what the guest printed, from some characters before `m_unread` on
    std::size_t m_unread = 0;  ///< where in it begins what no line has seen
    bool m_search = false;     ///< the present line may find in it what it waits for
    std::string m_failure;
};

}  // namespace fabricvp
