// SPDX-License-Identifier: Apache-2.0
#include "platform/block_description.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/described_blocks.h"
#include "base/fault.h"
#include "base/statistics.h"
#include "platform/common/input_error.h"
#include "platform/common/nearest.h"
#include "platform/common/terminal.h"
#include "platform/config/renamed_names.h"

namespace fabricvp {
namespace {

struct row {
    std::string path, value, help;
};

/// Parameters by path, as `--set` names them.
class parameter_rows final : public named_blocks {
public:
    std::vector<row> rows;
    std::set<std::string> groups;

    void rest(std::vector<unparsed_value>& values, const char* help) override {
        for (const auto& v : values) rows.push_back({joined(v.key), v.text, help});
    }

protected:
    void visit(parameter& p) override {
        const auto allowed = p.allowed();
        rows.push_back({joined(p.name), p.text().empty() ? "''" : p.text(),
                        allowed.empty() ? p.help : fmt::format("{} ({})", p.help, allowed)});
    }
    bool enter(const char* name, const char*) override {
        push(joined(name));
        return true;
    }
    void leave() override { m_open.pop_back(); }
    std::size_t enter_list(const char* name, const char*, std::size_t size) override {
        open_list();
        if (!lists_blocks()) push(joined(name));  // blocks are known by their names alone
        return size;
    }
    void enter_item(std::size_t index) override { push(joined(item_name(index))); }
    void leave_list() override {
        if (!lists_blocks()) leave();
        close_list();
    }

private:
    std::string joined(const std::string& name) const { return m_open.empty() ? name : m_open.back() + "." + name; }
    void push(std::string path) {
        groups.insert(path);
        m_open.push_back(std::move(path));
    }
    std::vector<std::string> m_open;
};

bool below(const std::string& path, const std::string& top) {
    return path.size() > top.size() && path.compare(0, top.size(), top) == 0 && path[top.size()] == '.';
}

/// Titles and lines, the texts behind them aligned.
std::string section(const char* title, const std::vector<row>& rows) {
    constexpr std::size_t widest = 56;
    if (rows.empty()) return {};
    std::size_t width = 0;
    for (const auto& r : rows) width = std::max(width, std::min(widest, r.path.size() + r.value.size()));
    std::string text = fmt::format("{}\n", title);
    for (const auto& r : rows) {
        const auto left = r.path + r.value;
        text += r.help.empty() ? fmt::format("  {}\n", left)
                               : fitted(fmt::format("  {:{}}  # {}", left, width, r.help), width + 4, "# ") + "\n";
    }
    return text;
}

}  // namespace

std::string describe_block(const machine& hardware, const std::string& wanted) {
    const auto path = wanted == "node" || wanted.compare(0, 5, "node.") == 0 ? "node0" + wanted.substr(4) : wanted;
    parameter_rows parameters;
    auto params = hardware.params;
    params.describe(parameters);

    std::vector<row> own, counted, faults;
    const auto shortened = [&](const std::string& full) { return full == path ? full : full.substr(path.size() + 1); };
    std::set<std::string> known = parameters.groups;
    for (const auto& r : parameters.rows) {
        known.insert(r.path);
        if (r.path == path || below(r.path, path)) own.push_back({shortened(r.path), " = " + r.value, r.help});
    }
    for (const auto* s : all_statistics()) {
        known.insert(s->path());
        if (const auto dot = s->path().rfind('.'); dot != std::string::npos) known.insert(s->path().substr(0, dot));
        if (s->path() == path || below(s->path(), path))
            counted.push_back({shortened(s->path()), fmt::format(" [{}]", s->unit()), s->help()});
    }
    std::sort(counted.begin(), counted.end(), [](const row& a, const row& b) { return a.path < b.path; });
    for (const auto* f : all_faults())
        if (f->target() == path || below(f->target(), path))
            faults.push_back({f->kind(), f->target() == path ? "" : " at " + shortened(f->target()), f->help()});
    if (own.empty() && counted.empty() && faults.empty()) {
        if (const auto name = renamed_path(path, [&](const auto& each) { return known.count(each) > 0; });
            !name.empty())
            throw input_error(now_called(wanted, name));
        const auto hint = nearest_name(path, {known.begin(), known.end()});
        throw input_error(fmt::format("there is nothing at {} in this machine{}", quoted(wanted),
                                      hint.empty() ? "" : fmt::format(", did you mean '{}'?", hint)));
    }
    return path + "\n" + section("Parameters", own) + section("Statistics", counted) + section("Faults", faults);
}

}  // namespace fabricvp
