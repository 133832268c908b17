// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/described_blocks.h"

namespace fabricvp {

/// Lists described parameters for people: an indented tree of names, values and help.
class config_listing final : public named_blocks {
public:
    std::string text() const;

    void rest(std::vector<unparsed_value>& values, const char* help) override;

protected:
    void visit(parameter& p) override;
    bool enter(const char* name, const char* help) override;
    void leave() override { --m_depth; }
    std::size_t enter_list(const char* name, const char* help, std::size_t size) override;
    void enter_item(std::size_t index) override;
    void leave_list() override;

private:
    struct line {
        std::string left, help;
    };
    std::vector<line> m_lines;
    std::size_t m_depth = 0;
};

}  // namespace fabricvp
