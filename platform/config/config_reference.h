// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/parameters.h"

namespace fabricvp {

/// Markdown tables of described parameters: one section a group, one row a key.
class config_reference final : public parameter_visitor {
public:
    /// \param path stands before the names of the top group ("node")
    config_reference(std::string path, std::string help);
    std::string text() const;

    void rest(std::vector<unparsed_value>& values, const char* help) override;
    bool wants_kinds() const override { return true; }
    void enter_kind(const char* name, const char* help) override;
    void leave_kind() override;

protected:
    void visit(parameter& p) override;
    bool enter(const char* name, const char* help) override;
    void leave() override;
    std::size_t enter_list(const char* name, const char* help, std::size_t size) override;
    void enter_item(std::size_t index) override;
    void leave_list() override;
    bool wants_prototypes() const override { return true; }

private:
    struct section {
        std::string path, help, rows;
    };
    void open(const std::string& name, const std::string& help);

    std::vector<section> m_sections;  ///< in the order of the file
    std::vector<std::size_t> m_open;  ///< indices of the enclosing sections
};

/// The reference page of all parameters.
std::string machine_reference();

}  // namespace fabricvp
