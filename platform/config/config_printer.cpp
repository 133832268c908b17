// SPDX-License-Identifier: Apache-2.0
#include "platform/config/config_printer.h"

#include <cctype>

#include <fmt/format.h>

namespace fabricvp {
namespace {

bool plain(const std::string& text) {
    if (text.empty() || text.front() == ' ' || text.back() == ' ') return false;
    if (!std::isalnum(static_cast<unsigned char>(text.front())) && text.front() != '/' && text.front() != '.')
        return false;
    for (const char* word : {"true", "false", "yes", "no", "on", "off", "null"})
        if (text == word) return false;
    for (const char c : text)
        if (!std::isalnum(static_cast<unsigned char>(c)) && std::string(" _-./+=").find(c) == std::string::npos)
            return false;
    return true;
}

}  // namespace

std::string yaml_scalar(const std::string& text) {
    if (plain(text)) return text;
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += std::string("\\") + c;
        else if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\x{:02x}", byte);
        else
            out += c;
    }
    return out + "\"";
}

void config_printer::key(const std::string& name) {
    const auto indent = m_item_starts ? m_depth - 1 : m_depth;
    m_text += std::string(2 * indent, ' ') + (m_item_starts ? "- " : "") + name + ":";
    m_item_starts = false;
}

void config_printer::visit(parameter& p) {
    key(p.name);
    if (const auto* list = std::get_if<std::vector<std::string>*>(&p.value)) {
        m_text += " [";
        for (std::size_t i = 0; i < (*list)->size(); ++i) m_text += (i ? ", " : "") + yaml_scalar((**list)[i]);
        m_text += "]\n";
        return;
    }
    const bool words = p.kind == parameter_kind::text || p.kind == parameter_kind::choice;
    m_text += " " + (words ? yaml_scalar(p.text()) : p.text()) + "\n";
}

void config_printer::rest(std::vector<unparsed_value>& values, const char*) {
    for (const auto& v : values) {
        key(v.key);
        m_text += " " + yaml_scalar(v.text) + "\n";
    }
}

bool config_printer::enter(const char* name, const char*) {
    key(name);
    m_text += "\n";
    ++m_depth;
    return true;
}

void config_printer::leave() { --m_depth; }

std::size_t config_printer::enter_list(const char* name, const char*, std::size_t size) {
    key(name);
    m_text += size ? "\n" : " []\n";
    ++m_depth;
    return size;
}

void config_printer::enter_item(std::size_t) {
    ++m_depth;
    m_item_starts = true;
}

void config_printer::leave_list() { --m_depth; }

}  // namespace fabricvp
