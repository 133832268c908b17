// SPDX-License-Identifier: Apache-2.0
#include "platform/config/config_tree.h"

#include <set>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "platform/common/files.h"
#include "platform/common/input_error.h"

namespace fabricvp {
namespace {

/// Copies yaml-cpp's graph into a tree and refuses what a configuration never needs.
class tree_builder {
public:
    explicit tree_builder(const std::string& name) : m_name(name) {}

    config_tree build(const YAML::Node& node, int depth) {
        config_tree tree;
        tree.origin = place(node.Mark());
        if (depth > config_limits::depth) throw input_error(tree.origin + ": nested too deeply");
        if (++m_values > config_limits::values) throw input_error(tree.origin + ": too many values");
        switch (node.Type()) {
            case YAML::NodeType::Scalar:
                tree.kind = config_tree::shape::scalar;
                tree.text = node.Scalar();
                break;
            case YAML::NodeType::Sequence:
                tree.kind = config_tree::shape::sequence;
                for (const auto& item : node) tree.items.push_back(build(item, depth + 1));
                break;
            case YAML::NodeType::Map:
                tree.kind = config_tree::shape::mapping;
                add_entries(tree, node, depth);
                break;
            default: break;
        }
        return tree;
    }

private:
    void add_entries(config_tree& tree, const YAML::Node& node, int depth) {
        std::set<std::string> seen;
        for (const auto& pair : node) {
            const auto where = place(pair.first.Mark());
            if (!pair.first.IsScalar()) throw input_error(where + ": a key must be a plain word");
            const auto& key = pair.first.Scalar();
            if (!seen.insert(key).second)
                throw input_error(fmt::format("{}: key {} appears twice", where, quoted(key)));
            tree.entries.push_back({key, where, build(pair.second, depth + 1)});
        }
    }

    std::string place(const YAML::Mark& mark) const {
        return mark.is_null() ? m_name : fmt::format("{}:{}", m_name, mark.line + 1);
    }

    const std::string& m_name;
    std::size_t m_values = 0;
};

/// Parses without keeping anything.
class ignoring_handler final : public YAML::EventHandler {
    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
};

/// The number of the first line that a tab indents, 0 if there is none. yaml-cpp says of it what it finds instead.
int first_line_with_tab(const std::string& yaml) {
    std::istringstream lines(yaml);
    int number = 1;
    for (std::string line; std::getline(lines, line); ++number)
        if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string::npos) return number;
    return 0;
}

/// YAML::LoadAll() would tell, but finds documents without end behind a stray closing bracket (yaml-cpp 0.7).
bool more_than_one_document(const std::string& yaml) {
    std::istringstream text(yaml);
    YAML::Parser parser(text);
    ignoring_handler ignored;
    return parser.HandleNextDocument(ignored) && parser.HandleNextDocument(ignored);
}

}  // namespace

const config_tree* config_tree::find(const std::string& key) const {
    for (const auto& e : entries)
        if (e.key == key) return &e.value;
    return nullptr;
}

config_tree parse_config(const std::string& yaml, const std::string& name) {
    if (yaml.size() > config_limits::file_bytes)
        throw input_error(fmt::format("{}: too large for a configuration ({} bytes, at most {})", name, yaml.size(),
                                      config_limits::file_bytes));
    if (yaml.find('\0') != std::string::npos) throw input_error(name + ": not a YAML file (holds zero bytes)");
    config_tree tree;
    try {
        if (more_than_one_document(yaml))
            throw input_error(name + ": holds more than one YAML document, or a stray closing bracket");
        tree = tree_builder(name).build(YAML::Load(yaml), 0);
    } catch (const YAML::Exception& e) {
        const auto line = e.mark.is_null() ? 0 : e.mark.line + 1;
        if (const auto tab = first_line_with_tab(yaml); tab && tab <= line)
            throw input_error(fmt::format("{}:{}: a tab indents this line; YAML takes blanks alone", name, tab));
        const auto where = line ? fmt::format("{}:{}", name, line) : name;
        throw input_error(fmt::format("{}: not valid YAML: {}", where, e.msg));
    }
    if (tree.kind == config_tree::shape::null) throw input_error(name + ": the configuration is empty");
    if (tree.kind != config_tree::shape::mapping)
        throw input_error(tree.origin + ": a configuration is a mapping (key: value), this is not");
    return tree;
}

config_tree read_config_file(const std::string& path) {
    return parse_config(read_file(path, config_limits::file_bytes), path);
}

config_tree make_override(const std::string& key, const std::string& value) {
    const auto origin = fmt::format("--set {}", quoted(key + "=" + value));
    config_tree root;
    auto* at = &root;
    at->origin = origin;
    std::size_t start = 0;
    int depth = 0;
    while (true) {
        const auto dot = key.find('.', start);
        const auto word = key.substr(start, dot == std::string::npos ? dot : dot - start);
        if (word.empty())
            throw input_error(origin + ": the key must be words with dots between, such as node.host.harts");
        if (++depth > config_limits::depth) throw input_error(origin + ": the key has too many parts");
        at->kind = config_tree::shape::mapping;
        at->entries.push_back({word, origin, {}});
        at = &at->entries.back().value;
        at->origin = origin;
        if (dot == std::string::npos) break;
        start = dot + 1;
    }
    if (!value.empty() && value.front() == '[') {  // a list, in YAML's flow style
        try {
            *at = tree_builder(origin).build(YAML::Load(value), depth);
        } catch (const YAML::Exception& e) {
            throw input_error(fmt::format("{}: not a valid list: {}", origin, e.msg));
        }
        return root;
    }
    at->kind = config_tree::shape::scalar;
    at->text = value;
    return root;
}

}  // namespace fabricvp
