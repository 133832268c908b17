// SPDX-License-Identifier: Apache-2.0
#include "platform/config/config_schema.h"

#include <cmath>

#include "platform/params/machine_params.h"

namespace fabricvp {
namespace {

using json = nlohmann::ordered_json;

json open_object(const char* help) {
    json object;
    if (help) object["description"] = help;
    object["type"] = "object";
    object["properties"] = json::object();
    object["additionalProperties"] = false;
    return object;
}

/// A number with one of `units` behind it, as the parameter parsers take it.
json quantity(const std::string& units) {
    return {{"type", "string"}, {"pattern", "^ *[0-9][0-9_.eE+-]* ?(" + units + ") *$"}};
}

json type_of(const parameter& p) {
    switch (p.kind) {
        case parameter_kind::boolean: return {{"type", "boolean"}};
        case parameter_kind::integer: return {{"type", "integer"}, {"minimum", 0}};
        case parameter_kind::real: return {{"type", "number"}};
        case parameter_kind::text: return {{"type", "string"}};
        case parameter_kind::choice: return {{"enum", p.choices}};
        case parameter_kind::text_list: return {{"type", "array"}, {"items", {{"type", "string"}}}};
        case parameter_kind::duration: return quantity("ps|ns|us|µs|ms|s");
        case parameter_kind::frequency: return quantity("[kMGT]?Hz");
        case parameter_kind::byte_size: return quantity("[kMGT]?B|[KMGT]iB");
        case parameter_kind::bandwidth: return quantity("([kMGT]?B|[KMGT]iB|[kMGT]?bit)/s|[kMGT]?bps");
        case parameter_kind::cycles: return quantity("cycles?");
    }
    return {};
}

/// Limits are whole numbers for whole-number parameters, so that 16 is not printed as 16.0.
json limit(const parameter& p, double value) {
    if (p.kind == parameter_kind::integer && value >= 0 && value < 9e15) return static_cast<std::uint64_t>(value);
    return value;
}

json value_of(const parameter& p) {
    if (const auto* v = std::get_if<bool*>(&p.value)) return **v;
    if (const auto* v = std::get_if<std::uint64_t*>(&p.value)) return **v;
    if (const auto* v = std::get_if<double*>(&p.value)) return **v;
    if (const auto* v = std::get_if<std::vector<std::string>*>(&p.value)) return **v;
    return p.text();
}

}  // namespace

config_schema::config_schema() { m_levels.push_back(open_object(nullptr)); }

void config_schema::visit(parameter& p) {
    json entry = {{"description", p.help}};
    entry.update(type_of(p));
    const bool number = p.kind == parameter_kind::integer || p.kind == parameter_kind::real;
    if (number && std::isfinite(p.minimum)) entry["minimum"] = limit(p, p.minimum);
    if (number && std::isfinite(p.maximum)) entry["maximum"] = limit(p, p.maximum);
    if (!number && p.number() && !p.allowed().empty()) entry["$comment"] = p.allowed();
    entry["default"] = value_of(p);
    m_levels.back()["properties"][p.name] = std::move(entry);
}

void config_schema::rest(std::vector<unparsed_value>&, const char* help) {
    m_levels.back()["additionalProperties"] = {{"description", help}, {"type", {"string", "number", "boolean"}}};
}

void config_schema::expect_blocks(const char*, const std::vector<std::string>&) {
    m_levels.back()["additionalProperties"] = {
        {"description", "by its name, what one block of a list here has different"}, {"type", "object"}};
}

bool config_schema::enter(const char* name, const char* help) {
    m_names.emplace_back(name);
    m_levels.push_back(open_object(help));
    return true;
}

void config_schema::leave() {
    auto done = std::move(m_levels.back());
    m_levels.pop_back();
    if (m_names.back().empty()) {  // an item of a list: all items look alike
        m_levels.back()["items"] = std::move(done);
    } else {
        m_levels.back()["properties"][m_names.back()] = std::move(done);
    }
    m_names.pop_back();
}

std::size_t config_schema::enter_list(const char* name, const char* help, std::size_t size) {
    m_names.emplace_back(name);
    m_levels.push_back({{"description", help}, {"type", "array"}});
    return size;
}

void config_schema::enter_item(std::size_t) {
    m_names.emplace_back();
    m_levels.push_back(open_object(nullptr));
}

void config_schema::leave_list() {
    auto done = std::move(m_levels.back());
    m_levels.pop_back();
    m_levels.back()["properties"][m_names.back()] = std::move(done);
    m_names.pop_back();
}

std::string machine_schema() {
    machine_params machine;
    config_schema head;
    machine.describe_head(head);
    node_params one;
    config_schema node;
    one.describe(node);

    json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "FabricVP machine"}};
    root.update(head.schema());
    const json reference = {{"$ref", "#/$defs/node"}};
    const auto max = machine_params::max_nodes;
    root["properties"]["base"] = {
        {"description",
         "another configuration, over which this one lies: a file, from this one's folder, or the name of a stock one"},
        {"type", "string"}};
    root["properties"]["plugins"] = {
        {"description", "plug-ins whose kinds this configuration names: files, from this one's folder"},
        {"type", "array"},
        {"items", {{"type", "string"}}}};
    root["properties"]["node"] = {{"description", "what all nodes have; without `nodes`, the only one"},
                                  {"$ref", "#/$defs/node"}};
    root["properties"]["nodes"] = {
        {"description", "the nodes, each laid over `node`, or the number of nodes that are all alike"},
        {"oneOf",
         {{{"type", "integer"}, {"minimum", 1}, {"maximum", max}},
          {{"type", "array"},
           {"minItems", 1},
           {"maxItems", max},
           {"items", {{"oneOf", {{{"type", "null"}}, reference}}}}}}},
        {"default", 1}};
    root["$defs"] = {{"node", node.schema()}};
    return root.dump(2) + "\n";
}

}  // namespace fabricvp
