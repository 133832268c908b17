// SPDX-License-Identifier: Apache-2.0
#include "platform/console/console_script.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/parameters.h"
#include "platform/common/input_error.h"
#include "platform/common/nearest.h"
#include "platform/console/line_start.h"

namespace fabricvp {
namespace {

const std::vector<std::string> words = {"expect", "type", "command", "prompt", "timeout", "finish"};

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Where the regular expression of an `expect` ends: behind the first slash with nothing but a comment behind it. 0 if
/// the line has none.
std::size_t end_of_pattern(const std::string& line) {
    static const std::string word = "expect";
    auto at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line.compare(at, word.size(), word) != 0) return 0;
    at = line.find_first_not_of(" \t", at + word.size());
    if (at == std::string::npos || line[at] != '/' || !is_blank(line[at - 1])) return 0;
    for (auto end = line.find('/', at + 1); end != std::string::npos; end = line.find('/', end + 1)) {
        const auto next = line.find_first_not_of(" \t\r", end + 1);
        if (next == std::string::npos || (line[next] == '#' && next > end + 1)) return end + 1;
    }
    return 0;
}

/// The line without its comment: `#` at its start or behind a blank, outside of quotes and regular expressions.
std::string without_comment(const std::string& line) {
    bool in_quotes = false;
    for (auto i = end_of_pattern(line); i < line.size(); ++i) {
        if (in_quotes && line[i] == '\\') {
            ++i;  // what stands behind it does not end the text
            continue;
        }
        const bool behind_blank = i == 0 || is_blank(line[i - 1]);
        if (line[i] == '"' && (in_quotes || behind_blank)) in_quotes = !in_quotes;
        if (line[i] == '#' && !in_quotes && behind_blank) return line.substr(0, i);
    }
    return line;
}

std::string tail_of(const std::string& text, std::size_t from) {
    constexpr std::size_t max = 60;
    return text.substr(std::max(from, text.size() - std::min(text.size(), max)));
}

constexpr std::size_t window = 64 * 1024;  // of unread characters that are searched
constexpr std::size_t context = 64;        // characters before them, which tell whether a line starts
constexpr int max_program = 4096;          // of a pattern, in RE2's instructions: bounds a search with `window`

/// \throws std::invalid_argument with what RE2's syntax lacks
std::shared_ptr<re2::RE2> compiled(const std::string& expression) {
    re2::RE2::Options options(re2::RE2::Latin1);
    options.set_log_errors(false);
    auto pattern = std::make_shared<re2::RE2>("(?m)" + expression, options);
    if (!pattern->ok()) {
        const auto& part = pattern->error_arg();
        const auto why = pattern->error();
        throw std::invalid_argument(part.empty() ? why : why.substr(0, why.find(": ")) + ": " + quoted(part));
    }
    if (pattern->ProgramSize() > max_program) throw std::invalid_argument("pattern too large");
    return pattern;
}

}  // namespace

class console_script::parser {
public:
    parser(console_script& script, const std::string& text) : m_script(script) {
        static const std::string byte_order_mark = "\xef\xbb\xbf";
        std::istringstream lines(text.compare(0, 3, byte_order_mark) == 0 ? text.substr(3) : text);
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
        m_script.m_steps.push_back({what, m_line, m_source, std::move(text), false, nullptr, m_timeout, never, never});
    }

    void expect() {
        if (m_rest.size() < 2 || m_rest.front() != '/' || m_rest.back() != '/') return add(kind::expect, quoted_text());
        const auto expression = m_rest.substr(1, m_rest.size() - 2);
        if (expression.empty()) fail("the pattern is empty");
        add(kind::expect, expression);
        try {
            m_script.m_steps.back().pattern = compiled(expression);
        } catch (const std::invalid_argument& e) {
            fail(fmt::format("{} is no regular expression ({})", quoted(expression), e.what()));
        }
    }

    void command() {
        if (m_prompt.empty()) fail("say before what the prompt is, such as: prompt \"=> \"");
        add(kind::type, quoted_text() + "\n");
        add(kind::expect, m_prompt);
        m_script.m_steps.back().at_line_start = true;
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
    for (; !done() && m_steps[m_next].what == kind::type; ++m_next) {
        m_steps[m_next].begin = m_steps[m_next].end = now;
        type(m_steps[m_next].text);
    }
    if (done()) return;
    m_steps[m_next].begin = now;
    const auto timeout = m_steps[m_next].timeout;
    m_deadline = now > never - timeout ? never : now + timeout;
    m_search = true;  // what is there already counts
}

/// What the present line waits for has been seen.
void console_script::pass(ticks now) {
    m_steps[m_next++].end = now;
    advance(now);
}

script_report console_script::report() const {
    script_report r{m_name, m_failure, current_line(), {}};
    for (const auto& s : m_steps) {
        const auto how = s.end != never     ? script_progress::done
                         : s.begin != never ? script_progress::under_way
                                            : script_progress::waits;
        if (r.lines.empty() || r.lines.back().line != s.line) {
            r.lines.push_back({s.line, s.source, how, s.begin, s.end});
            continue;
        }
        auto& l = r.lines.back();  // what a command types, and its prompt
        if (l.progress == script_progress::done && how != script_progress::waits) l.progress = how;
        l.end = s.end;
    }
    return r;
}

void console_script::on_byte(char c, ticks now) {
    if (m_begun && done()) return;
    m_text += c;
    if (waiting()) {
        const auto& s = m_steps[m_next];
        const auto length = s.text.size();
        if (s.pattern) {
            m_search = true;
        } else if (m_text.size() >= m_unread + length && m_text.compare(m_text.size() - length, length, s.text) == 0 &&
                   (!s.at_line_start || starts_line(m_text, m_text.size() - length))) {
            consume(m_text.size());
            pass(now);
        }
    }
    if (m_text.size() - m_unread >= 2 * window) consume(m_text.size() - window);
}

/// Counts `m_text` up to `end` as seen.
void console_script::consume(std::size_t end) {
    const auto forgotten = end - std::min(end, context);
    m_text.erase(0, forgotten);
    m_unread = end - forgotten;
}

/// \returns the end of what the present line waits for, npos if it is not there
std::size_t console_script::find() const {
    const auto& s = m_steps[m_next];
    if (!s.pattern) {
        auto at = m_text.find(s.text, m_unread);
        while (at != std::string::npos && s.at_line_start && !starts_line(m_text, at)) at = m_text.find(s.text, at + 1);
        return at == std::string::npos ? at : at + s.text.size();
    }
    const auto from = std::max(m_unread, m_text.size() - std::min(m_text.size(), window));
    re2::StringPiece found;
    if (!s.pattern->Match(m_text, from, m_text.size(), re2::RE2::UNANCHORED, &found, 1)) return std::string::npos;
    return static_cast<std::size_t>(found.data() - m_text.data()) + found.size();
}

void console_script::poll(ticks now) {
    if (!m_begun) begin(now);
    while (waiting() && std::exchange(m_search, false)) {
        const auto end = find();
        if (end == std::string::npos) break;
        consume(end);
        pass(now);
    }
    if (!waiting() || now < m_deadline) return;
    m_failure =
        fmt::format("{}: not seen within {:g} s of simulated time; the console ends with {}", current_line(),
                    static_cast<double>(m_steps[m_next].timeout) / ticks_per_second, quoted(tail_of(m_text, m_unread)));
}

std::string console_script::current_line() const {
    if (done()) return {};
    const auto& s = m_steps[m_next];
    return fmt::format("{}:{}: {}", m_name, s.line, quoted(s.source));
}

}  // namespace fabricvp
