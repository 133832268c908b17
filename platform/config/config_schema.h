// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/parameters.h"

namespace fabricvp {

/// JSON schema (draft 2020-12) of one described struct.
class config_schema final : public parameter_visitor {
public:
    config_schema();
    /// The schema of what has been described so far: an object that allows no other keys.
    const nlohmann::ordered_json& schema() const { return m_levels.front(); }

    void rest(std::vector<unparsed_value>& values, const char* help) override;
    void expect_blocks(const char*, const std::vector<std::string>&) override;
    bool wants_kinds() const override { return true; }

protected:
    void visit(parameter& p) override;
    bool enter(const char* name, const char* help) override;
    void leave() override;
    std::size_t enter_list(const char* name, const char* help, std::size_t size) override;
    void enter_item(std::size_t index) override;
    void leave_list() override;
    bool wants_prototypes() const override { return true; }

private:
    std::vector<nlohmann::ordered_json> m_levels;  ///< open objects and lists, outermost first
    std::vector<std::string> m_names;
};

/// Schema of a whole configuration file, as text.
std::string machine_schema();

}  // namespace fabricvp
