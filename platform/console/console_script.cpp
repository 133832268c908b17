// SPDX-License-Identifier: Apache-2.0
#include "platform/console/console_script.h"

#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/parameters.h"
#include "platform/config/config_tree.h"
#include "platform/config/nearest.h"
#include "platform/platform.h"

namespace fabricvp {
namespace {

const std::vector<std::string> words = {"expect", "type", "command", "prompt", "timeout", "finish"};

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The line without its comment: `#` at its start or behind a blank, outside of quotes.
std::string without_comment(const std::string& line) {
    bool in_quotes = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool behind_blank = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
        if (line[i] == '"' && (in_quotes ? line[i - 1] != '\\' : behind_blank)) in_quotes = !in_quotes;
        if (line[i] == '#' && !in_quotes && behind_blank) return line.substr(0, i);
    }
    return line;
}

std::string tail_of(const std::string& text) {
    constexpr std::size_t max = 60;
    return text.size() > max ? text.substr(text.size() - max) : text;
}

}  // namespace

class console_script::parser {
public:
    parser(console_script& script, const std::string& text) : m_script(script) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            ++m_line;
            m_source = trimmed(without_comment(line));
            if (!m_source.empty()) parse();
        }
        if (m_script.m_steps.empty() && !m_script.m_finish) throw input_error(m_script.m_name + ": is an empty script");
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        throw input_error(fmt::format("{}:{}: {}", m_script.m_name, m_line, why));
    }

    void parse() {
        if (m_script.m_finish) fail("nothing may stand behind 'finish'");
        const auto blank = m_source.find_first_of(" \t");
        const auto word = m_source.substr(0, blank);
        m_rest = blank == std::string::npos ? std::string() : trimmed(m_source.substr(blank));
        if (word == "expect")
            expect();
        else if (word == "type")
            add(kind::type, quoted_text());
        else if (word == "command")
            command();
        else if (word == "prompt")
            m_prompt = quoted_text();
        else if (word == "timeout")
            timeout();
        else if (word == "finish")
            finish();
        else {
            const auto hint = nearest_name(word, words);
            fail(fmt::format("unknown word {}{} (allowed: {})", quoted(word),
                             hint.empty() ? "" : fmt::format(", did you mean '{}'?", hint), fmt::join(words, ", ")));
        }
    }

    void add(kind what, std::string text) {
        m_script.m_steps.push_back({what, m_line, m_source, std::move(text), {}, m_timeout});
    }

    void expect() {
        if (m_rest.size() < 2 || m_rest.front() != '/' || m_rest.back() != '/') return add(kind::expect, quoted_text());
        const auto expression = m_rest.substr(1, m_rest.size() - 2);
        add(kind::expect, expression);
        try {
            m_script.m_steps.back().pattern.emplace(expression, std::regex::ECMAScript | std::regex::optimize);
        } catch (const std::regex_error&) {
            fail(fmt::format("{} is no regular expression", quoted(expression)));
        }
    }

    void command() {
        if (m_prompt.empty()) fail("say before what the prompt is, such as: prompt \"=> \"");
        add(kind::type, quoted_text() + "\n");
        add(kind::expect, m_prompt);
    }

    void timeout() {
        duration value;
        parameter p("timeout", "", parameter_kind::duration, &value);
        try {
            p.parse(m_rest);
        } catch (const std::invalid_argument& e) {
            fail(fmt::format("timeout: {}", e.what()));
        }
        if (value.value == 0) fail("a timeout must be above 0");
        m_timeout = value.value;
    }

    void finish() {
        if (!m_rest.empty()) fail("nothing may stand behind 'finish'");
        m_script.m_finish = true;
    }

    /// The rest of the line: as it is, or between quotes with escapes.
    std::string quoted_text() const {
        if (m_rest.empty()) fail("a text is missing");
        if (m_rest.front() != '"') return m_rest;
        std::string out;
        std::size_t i = 1;
        for (; i < m_rest.size() && m_rest[i] != '"'; ++i) out += m_rest[i] == '\\' ? escaped(i) : m_rest[i];
        if (i + 1 != m_rest.size())
            fail(i < m_rest.size() ? "something stands behind the closing quote" : "the closing quote is missing");
        if (out.empty()) fail("the text is empty");
        return out;
    }

    /// The character that an escape at `i` stands for; leaves `i` at its end.
    char escaped(std::size_t& i) const {
        const char c = ++i < m_rest.size() ? m_rest[i] : '\0';
        switch (c) {
            case 'n': return '\n';
            case 'r': return '\r';
            case 't': return '\t';
            case '\\':
            case '"': return c;
            case 'x': {
                const auto digits = m_rest.substr(i + 1, 2);
                if (digits.size() != 2 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
                    break;
                i += 2;
                return static_cast<char>(std::stoul(digits, nullptr, 16));
            }
            default: break;
        }
        fail("a backslash stands before n, r, t, \\, \" or xNN");
    }

    console_script& m_script;
    std::size_t m_line = 0;
    std::string m_source, m_rest, m_prompt;
    ticks m_timeout = 10 * ticks_per_second;
};

console_script::console_script(const std::string& text, const std::string& name) : m_name(name) { parser(*this, text); }

void console_script::begin(ticks now) {
    m_begun = true;
    advance(now);
}

/// Types what comes next, up to the next text to wait for.
void console_script::advance(ticks now) {
    for (; !done() && m_steps[m_next].what == kind::type; ++m_next) type(m_steps[m_next].text);
    if (done()) return;
    const auto timeout = m_steps[m_next].timeout;
    m_deadline = now > never - timeout ? never : now + timeout;
    m_search = true;  // what is there already counts
}

void console_script::on_byte(char c, ticks now) {
    m_unread += c;
    if (!waiting()) return;
    const auto& s = m_steps[m_next];
    if (s.pattern) {
        m_search = true;
    } else if (m_unread.size() >= s.text.size() &&
               m_unread.compare(m_unread.size() - s.text.size(), s.text.size(), s.text) == 0) {
        m_unread.clear();
        ++m_next;
        advance(now);
    }
}

/// \returns the end of what the present line waits for, npos if it is not there
std::size_t console_script::find() const {
    const auto& s = m_steps[m_next];
    if (!s.pattern) {
        const auto at = m_unread.find(s.text);
        return at == std::string::npos ? at : at + s.text.size();
    }
    std::smatch found;
    return std::regex_search(m_unread, found, *s.pattern) ? static_cast<std::size_t>(found[0].second - m_unread.begin())
                                                          : std::string::npos;
}

void console_script::poll(ticks now) {
    if (!m_begun) begin(now);
    while (waiting() && std::exchange(m_search, false)) {
        const auto end = find();
        if (end == std::string::npos) break;
        m_unread.erase(0, end);
        ++m_next;
        advance(now);
    }
    if (!waiting() || now < m_deadline) return;
    m_failure = fmt::format("{}: not seen within {:g} s of simulated time; the console ends with {}", current_line(),
                            static_cast<double>(m_steps[m_next].timeout) / ticks_per_second, quoted(tail_of(m_unread)));
}

std::string console_script::current_line() const {
    if (done()) return {};
    const auto& s = m_steps[m_next];
    return fmt::format("{}:{}: {}", m_name, s.line, s.source);
}

}  // namespace fabricvp
