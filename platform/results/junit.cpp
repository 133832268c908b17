// SPDX-License-Identifier: Apache-2.0
#include "platform/results/junit.h"

#include <algorithm>

#include <fmt/format.h>

#include "platform/common/input_error.h"

namespace fabricvp {
namespace {

/// U+FFFE and U+FFFF are characters of UTF-8, and none of XML.
bool is_character(const std::string& text, std::size_t at, std::size_t length) {
    return length != 3 || (text.compare(at, 3, "\xef\xbf\xbe") != 0 && text.compare(at, 3, "\xef\xbf\xbf") != 0);
}

std::string escaped(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool control = byte < 0x20 && byte != '\n' && byte != '\t';
        const auto length = control || byte == 0x7f ? 0 : utf8_length(text, i);
        if (byte == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
            ++i;  // a line feed is enough
            continue;
        }
        if (!length || !is_character(text, i, length)) {
            out += fmt::format("\\x{:02x}", byte);
            ++i;
            continue;
        }
        switch (text[i]) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += text.substr(i, length);
        }
        i += length;
    }
    return out;
}

/// The same for attributes, in which XML takes line feeds for blanks.
std::string attribute(const std::string& text) {
    std::string out;
    for (const char c : escaped(text)) out += c == '\n' ? "&#10;" : c == '\t' ? "&#9;" : std::string(1, c);
    return out;
}

std::string counts(const std::vector<junit_suite>& suites) {
    std::size_t tests = 0, failures = 0, skipped = 0;
    double seconds = 0;
    for (const auto& s : suites)
        for (const auto& c : s.cases) {
            ++tests;
            failures += !c.failure.empty();
            skipped += !c.skipped.empty();
            seconds += c.seconds;
        }
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.9f}\"", tests, failures,
                       skipped, seconds);
}

}  // namespace

std::string junit_xml(const std::vector<junit_suite>& suites) {
    constexpr std::size_t max_output = 64 * 1024;
    auto xml = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n", counts(suites));
    for (const auto& s : suites) {
        xml += fmt::format("  <testsuite name=\"{}\" {}>\n", attribute(s.name), counts({s}));
        for (const auto& c : s.cases) {
            xml += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.9f}\">", attribute(s.name),
                               attribute(c.name), c.seconds);
            if (!c.failure.empty())
                xml += fmt::format("<failure message=\"{}\">{}</failure>", attribute(c.failure), escaped(c.failure));
            if (!c.skipped.empty()) xml += fmt::format("<skipped message=\"{}\"/>", attribute(c.skipped));
            xml += "</testcase>\n";
        }
        const auto from = s.output.size() - std::min(s.output.size(), max_output);
        xml += fmt::format("    <system-out>{}</system-out>\n  </testsuite>\n", escaped(s.output.substr(from)));
    }
    return xml + "</testsuites>\n";
}

}  // namespace fabricvp
