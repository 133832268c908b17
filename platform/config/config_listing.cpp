// SPDX-License-Identifier: Apache-2.0
#include "platform/config/config_listing.h"

#include <algorithm>

#include <fmt/format.h>

#include "platform/common/terminal.h"

namespace fabricvp {

void config_listing::visit(parameter& p) {
    const auto value = p.text();
    const auto allowed = p.allowed();
    m_lines.push_back({fmt::format("{:{}}{} = {}", "", 2 * m_depth, p.name, value.empty() ? "''" : value),
                       allowed.empty() ? p.help : fmt::format("{} ({})", p.help, allowed)});
}

void config_listing::rest(std::vector<unparsed_value>& values, const char* help) {
    for (const auto& v : values) m_lines.push_back({fmt::format("{:{}}{} = {}", "", 2 * m_depth, v.key, v.text), help});
}

bool config_listing::enter(const char* name, const char* help) {
    m_lines.push_back({fmt::format("{:{}}{}", "", 2 * m_depth, name), help});
    ++m_depth;
    return true;
}

std::size_t config_listing::enter_list(const char* name, const char* help, std::size_t size) {
    m_lines.push_back({fmt::format("{:{}}{} ({} items)", "", 2 * m_depth, name, size), help});
    ++m_depth;
    open_list();
    return size;
}

void config_listing::leave_list() {
    --m_depth;
    close_list();
}

void config_listing::enter_item(std::size_t index) {
    const auto title = lists_blocks() ? item_name(index) : fmt::format("[{}]", index);
    m_lines.push_back({fmt::format("{:{}}{}", "", 2 * m_depth, title), ""});
    ++m_depth;
}

std::string config_listing::text() const {
    constexpr std::size_t widest = 56;
    std::size_t width = 0;
    for (const auto& l : m_lines) width = std::max(width, std::min(l.left.size(), widest));
    std::string out;
    for (const auto& l : m_lines)
        out += l.help.empty() ? l.left + "\n"
                              : fitted(fmt::format("{:{}}  # {}", l.left, width, l.help), width + 2, "# ") + "\n";
    return out;
}

}  // namespace fabricvp
