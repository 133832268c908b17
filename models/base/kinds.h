// SPDX-License-Identifier: Apache-2.0
// Kinds of devices by name. Where a list of devices stands in a configuration, the key `kind` chooses one, and the keys
// of that kind stand beside. What all kinds of a place share is an abstract struct of settings with
//   void describe(parameter_visitor&), std::unique_ptr<Settings> copy() const, static std::vector<kind<Settings>>&
//   kinds().
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/parameters.h"

namespace fabricvp {

template <class Settings>
struct kind {
    const char* name;
    const char* help;
    std::unique_ptr<Settings> (*settings)();  ///< with default values
};

/// A device's kind with its parameters, as a value; the first kind unless another is chosen.
template <class Settings>
class chosen_kind {
public:
    chosen_kind() : m_kind(Settings::kinds().front().name), m_settings(Settings::kinds().front().settings()) {}
    chosen_kind(const chosen_kind& other) : m_kind(other.m_kind), m_settings(other.m_settings->copy()) {}
    chosen_kind& operator=(const chosen_kind& other) {
        m_kind = other.m_kind;
        m_settings = other.m_settings->copy();
        return *this;
    }

    const std::string& kind() const { return m_kind; }
    /// Another kind, with default values. \throws std::invalid_argument if there is none of that name
    void choose(const std::string& name) {
        for (const auto& k : Settings::kinds())
            if (name == k.name) {
                m_settings = k.settings();
                m_kind = name;
                return;
            }
        throw std::invalid_argument("no kind is called '" + name + "'");
    }
    Settings& settings() { return *m_settings; }
    const Settings& settings() const { return *m_settings; }

    /// The key `kind`, and those of that kind beside it.
    void describe(parameter_visitor& v) {
        const auto& all = Settings::kinds();
        std::vector<std::string> names;
        for (const auto& k : all) names.emplace_back(k.name);
        const auto before = m_kind;
        v.choice("kind", m_kind, names, "what it is; the keys of that kind stand beside");
        for (const auto& k : all)
            if (m_kind == k.name && m_kind != before) m_settings = k.settings();
        const bool others = v.wants_kinds();
        for (const auto& k : all) {
            const bool chosen = m_kind == k.name;
            if (!chosen && !others) continue;
            v.enter_kind(k.name, k.help);
            chosen ? m_settings->describe(v) : k.settings()->describe(v);
            v.leave_kind();
        }
    }

private:
    std::string m_kind;
    std::unique_ptr<Settings> m_settings;
};

}  // namespace fabricvp
