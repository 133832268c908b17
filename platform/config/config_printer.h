// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/parameters.h"

namespace fabricvp {

/// Prints described parameters as YAML that the reader takes back with the same values.
class config_printer final : public parameter_visitor {
public:
    const std::string& text() const { return m_text; }

    void rest(std::vector<unparsed_value>& values, const char* help) override;

protected:
    void visit(parameter& p) override;
    bool enter(const char* name, const char* help) override;
    void leave() override;
    std::size_t enter_list(const char* name, const char* help, std::size_t size) override;
    void enter_item(std::size_t index) override;
    void leave_list() override;

private:
    void key(const std::string& name);

    std::string m_text;
    std::size_t m_depth = 0;
    bool m_item_starts = false;  ///< the next key stands behind a dash
};

/// A scalar as YAML: plain where that is unambiguous, else in double quotes.
std::string yaml_scalar(const std::string& text);

}  // namespace fabricvp
