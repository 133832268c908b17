// SPDX-License-Identifier: Apache-2.0
// What refuses values that only a whole can judge (a link to something that does not exist) says where they are
// written.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.h"

namespace fabricvp {

/// \param origin "machine.yaml:12", or empty \throws std::invalid_argument of one line, always
[[noreturn]] inline void reject_at(const std::string& origin, const std::string& why) {
    throw std::invalid_argument(origin.empty() ? why : origin + ": " + why);
}

/// Where a described struct and some of its keys are written.
class parameter_origin {
public:
    /// To be called by describe(). Where nothing is read, what is known stays.
    void note(parameter_visitor& v, std::initializer_list<const char*> keys) {
        auto own = v.origin_of("");
        if (own.empty()) return;
        m_own = std::move(own);
        m_keys.clear();
        for (const auto* key : keys) m_keys.emplace_back(key, v.origin_of(key));
    }
    /// Of a key; of the struct, if the key is none of those noted.
    const std::string& of(const std::string& key) const {
        for (const auto& [name, where] : m_keys)
            if (name == key) return where;
        return m_own;
    }
    const std::string& own() const { return m_own; }

private:
    std::string m_own;
    std::vector<std::pair<std::string, std::string>> m_keys;
};

/// Names that are allowed, for a refusal: "root, switch0, …"; the first ones where there are many.
template <class Names>
std::string allowed_names(const Names& names) {
    constexpr std::size_t max_names = 16;
    std::string text;
    std::size_t n = 0;
    for (const auto& name : names) {
        if (n) text += ", ";
        if (n++ == max_names) return text + "…";
        text += name;
    }
    return text;
}

}  // namespace fabricvp
