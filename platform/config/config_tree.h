// SPDX-License-Identifier: Apache-2.0
// A configuration as it was written: a tree of texts in which every value remembers where it came from. The reader lays
// several trees over each other (template, node, command line) without copying them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fabricvp {

/// One value of a configuration and the place where it stands.
struct config_tree {
    enum class shape { null, scalar, mapping, sequence };
    struct entry;

    shape kind = shape::null;
    std::string text;                ///< of a scalar
    std::vector<entry> entries;      ///< of a mapping, in the order of the file
    std::vector<config_tree> items;  ///< of a sequence
    std::string origin;              ///< "machine.yaml:12" or "--set node.host.harts=4"

    const config_tree* find(const std::string& key) const;
};

struct config_tree::entry {
    std::string key;
    std::string origin;  ///< of the key
    config_tree value;
};

/// What a tree may hold at most; invalid files end in an error, not in exhausted memory.
struct config_limits {
    static constexpr std::size_t file_bytes = 16 << 20;  // 1,024 GPUs with all their parameters have 5.3 MB
    static constexpr int depth = 48;
    static constexpr std::size_t values = 400'000;
};

/// Parses YAML. The top level must be a mapping. \param name stands in messages \throws input_error with file and line
config_tree parse_config(const std::string& yaml, const std::string& name);

/// Reads a file and parses it. \throws input_error
config_tree read_config_file(const std::string& path);

/// A tree that holds only `key=value`, from a dotted path. \throws input_error
config_tree make_override(const std::string& key, const std::string& value);

}  // namespace fabricvp
