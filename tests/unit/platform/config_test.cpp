// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "platform/common/input_error.h"
#include "platform/common/nearest.h"
#include "platform/config/config_listing.h"
#include "platform/config/config_printer.h"
#include "platform/config/config_reader.h"
#include "platform/config/config_reference.h"
#include "platform/config/config_schema.h"
#include "platform/config/machine_reader.h"
#include "platform/params/machine_params.h"
#include "platform/platform.h"

using namespace fabricvp;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

machine_params read(const std::string& yaml, const platform::overrides& set = {}) {
    return read_machine_params(yaml, "m.yaml", set);
}

std::string error_of(const std::string& yaml, const platform::overrides& set = {}) {
    try {
        read(yaml, set);
    } catch (const input_error& e) {
        const std::string line = e.what();
        CHECK(line.find('\n') == std::string::npos);
        CHECK(line.size() < 2500);
        return line;
    }
    return "no error";
}

/// A struct with every kind of parameter and with lists.
struct item_params {
    std::uint64_t number = 7;
    std::string name = "none";
    void describe(parameter_visitor& v) {
        v.field("number", number, between{0, 99}, "a number");
        v.field("name", name, "a name");
    }
};

struct sample_params {
    bool flag = false;
    double real = 1.5;
    std::string text = "plain";
    std::vector<std::string> words{"a", "b, c"};
    duration time{100'000};
    byte_size size{4096};
    std::vector<item_params> items;
    void describe(parameter_visitor& v) {
        v.field("flag", flag, "a flag");
        v.field("real", real, between{0, 10}, "a real");
        v.field("text", text, "a text");
        v.field("words", words, "a list of words");
        v.field("time", time, "a time");
        v.field("size", size, "a size");
        v.list("items", items, "a list of items");
    }
};

sample_params read_sample(const std::vector<config_tree>& trees) {
    std::vector<config_reader::layer> layers;
    for (const auto& t : trees) layers.push_back({&t, ""});
    config_reader reader(layers);
    sample_params p;
    p.describe(reader);
    reader.finish();
    return p;
}

template <class P>
std::string printed(P p) {
    config_printer printer;
    p.describe(printer);
    return printer.text();
}

}  // namespace

TEST_CASE("defaults come from the structs") {
    const auto p = read("nodes: 1\n");
    REQUIRE(p.nodes.size() == 1);
    CHECK(p.nodes[0].host.harts == host::host_params().harts);
    CHECK(p.simulation.quantum.value == 1'000'000);
    CHECK(p.simulation.until == "all");
    CHECK(read("node: {host: {harts: 2}}\n").nodes.size() == 1);
}

TEST_CASE("a template serves all nodes, and a node's own keys win") {
    const auto p = read("node:\n  host: {harts: 2, memory: 64 MiB}\nnodes:\n  - {}\n  - host: {harts: 4}\n  -\n");
    REQUIRE(p.nodes.size() == 3);
    CHECK(p.nodes[0].host.harts == 2);
    CHECK(p.nodes[1].host.harts == 4);
    CHECK(p.nodes[2].host.harts == 2);
    CHECK(p.nodes[1].host.memory.bytes == 64u << 20);
}

TEST_CASE("the nodes are a list, or a number of nodes that are alike") {
    CHECK(read("nodes: 3\nnode: {host: {harts: 2}}\n").nodes[2].host.harts == 2);
    CHECK(read("nodes: [{host: {harts: 2}}]\n").nodes.at(0).host.harts == 2);
    const std::string list = "nodes:\n  - host: {harts: 2}\n  - host: {harts: 3}\n";
    CHECK(read(list, {{"nodes", "1"}}).nodes.size() == 1);
    const auto more = read(list, {{"nodes", "3"}, {"node2.host.harts", "5"}});
    REQUIRE(more.nodes.size() == 3);
    CHECK(more.nodes[1].host.harts == 3);
    CHECK(more.nodes[2].host.harts == 5);
    const auto other = read(list, {{"nodes", "[{host: {memory: 64 MiB}}]"}});  // replaces the whole list
    REQUIRE(other.nodes.size() == 1);
    CHECK(other.nodes[0].host.harts == 1);
    CHECK_THAT(error_of("nodes: {host: {harts: 2}}\n"),
               StartsWith("m.yaml:1: nodes: must be a list of nodes, or their number"));
    CHECK_THAT(error_of("nodes: []\n"), StartsWith("m.yaml:1: nodes: "));
    CHECK_THAT(error_of("nodes: [1]\n"), Contains("node0 must be a group of keys"));
    CHECK_THAT(error_of("nodes:\n  - host: {harts: 2}\n  - hots: 2\n"),
               StartsWith("m.yaml:3: unknown key 'hots' in node1, did you mean 'host'?"));
    CHECK_THAT(error_of("nodes: 2\nnode1: {host: {harts: 2}}\n"),
               StartsWith("m.yaml:2: node1 stands in a list: 'nodes:'"));
    CHECK_THAT(error_of("bse: gpu\n"), StartsWith("m.yaml:1: unknown key 'bse', did you mean 'base'?"));
    CHECK_THAT(error_of("plugs: []\n"), Contains("(allowed: simulation, nodes, faults, network, ethernet, node, base, "
                                                 "plugins)"));
    CHECK_THAT(error_of("nodes: 2\n", {{"nodes.1.host.harts", "2"}}),
               Contains("keys of one node start with node0, node1, …"));
}

TEST_CASE("whose end ends the run") {
    for (const char* until : {"all", "any", "node0", "node1"})
        CHECK(read("nodes: 2\n", {{"simulation.until", until}}).simulation.until == until);
    CHECK_THAT(error_of("nodes: 2\nsimulation:\n  until: node2\n"),
               StartsWith("m.yaml:3: simulation.until: 'node2' is not one of all, any, node0, node1"));
    CHECK_THAT(error_of("nodes: 4\nsimulation: {until: some}\n"), Contains("all, any, node0 … node3"));
}

TEST_CASE("overrides lie over the file, the later over the earlier") {
    const std::string yaml = "node: {host: {harts: 2}}\nnodes: [{host: {harts: 3}}, {}]\n";
    const auto all = read(yaml, {{"node.host.harts", "5"}});
    CHECK(all.nodes[0].host.harts == 5);
    CHECK(all.nodes[1].host.harts == 5);
    const auto one = read(yaml, {{"node.host.harts", "5"}, {"node1.host.harts", "6"}});
    CHECK(one.nodes[0].host.harts == 5);
    CHECK(one.nodes[1].host.harts == 6);
    CHECK(read(yaml, {{"nodes", "1"}, {"simulation.quantum", "100 ns"}}).simulation.quantum.value == 100'000);
}

TEST_CASE("errors name file, line and key") {
    CHECK_THAT(error_of("nodes: 1\nnode:\n  host:\n    hart_s: 4\n"),
               StartsWith("m.yaml:4: unknown key 'hart_s' in node.host, did you mean 'harts'? (allowed: harts, "));
    CHECK_THAT(error_of("node:\n  host:\n    harts: many\n"), StartsWith("m.yaml:3: node.host.harts: "));
    CHECK_THAT(error_of("node:\n  host:\n    harts: 0\n"),
               Contains("m.yaml:3: node.host.harts: ") && Contains("out of range"));
    CHECK_THAT(error_of("node:\n  host:\n    memory: 128\n"), StartsWith("m.yaml:3: node.host.memory: "));
    CHECK_THAT(error_of("node:\n  host: 5\n"), StartsWith("m.yaml:2: node.host must be a group of keys"));
    CHECK_THAT(error_of("node:\n  host:\n    harts: [1, 2]\n"),
               Contains("m.yaml:3: node.host.harts must be a single value, this is a list"));
    CHECK_THAT(error_of("node:\n  host:\n    harts:\n"), Contains("node.host.harts has no value"));
    CHECK_THAT(error_of("nodes: 1\nnodes: 2\n"), StartsWith("m.yaml:2: key 'nodes' appears twice"));
    CHECK_THAT(error_of("simulatoin:\n  quantum: 1 us\n"),
               Contains("m.yaml:1: unknown key 'simulatoin', did you mean 'simulation'?"));
    CHECK_THAT(error_of("simulation:\n  log: loud\n"),
               StartsWith("m.yaml:2: simulation.log: 'loud' is not one of error, warning, info, debug"));
    CHECK_THAT(error_of("nodes: 2\n", {{"node2.host.harts", "1"}}),
               Contains("there is no node2: this machine has 2 nodes"));
    CHECK_THAT(error_of("nodes: 1000000000\n"), StartsWith("m.yaml:1: nodes: 1000000000 is out of range"));
}

TEST_CASE("errors of overrides name the override") {
    CHECK_THAT(error_of("nodes: 1\n", {{"node.host.hrats", "4"}}),
               StartsWith("--set 'node.host.hrats=4': unknown key 'hrats' in node.host, did you mean 'harts'?"));
    CHECK_THAT(error_of("nodes: 1\n", {{"node.host.harts", "x"}}),
               StartsWith("--set 'node.host.harts=x': node.host.harts: "));
    CHECK_THAT(error_of("nodes: 1\n", {{"", "4"}}), StartsWith("--set '=4': the key must be words"));
    CHECK_THAT(error_of("nodes: 1\n", {{"node..harts", "4"}}), Contains("the key must be words"));
    CHECK_THAT(error_of("nodes: 1\n", {{"node", "[1,"}}), Contains("not a valid list"));
}

TEST_CASE("what is no configuration is refused in one line") {
    CHECK_THAT(error_of(""), Contains("m.yaml: the configuration is empty"));
    CHECK_THAT(error_of("# only a comment\n"), Contains("empty"));
    CHECK_THAT(error_of("- a\n- b\n"), Contains("m.yaml:1: a configuration is a mapping"));
    CHECK_THAT(error_of("just words"), Contains("is a mapping"));
    CHECK_THAT(error_of("a: [1, 2\nb: 3\n"), Contains("m.yaml:") && Contains("not valid YAML"));
    CHECK_THAT(error_of("a: 1\n---\nb: 2\n"), Contains("more than one YAML document"));
    CHECK_THAT(error_of("a: 1\n]\n"), Contains("m.yaml"));
    CHECK_THAT(error_of("}"), Contains("m.yaml"));
    CHECK_THAT(error_of("? [a, b]\n: 1\n"), Contains("a key must be a plain word"));
    CHECK_THAT(error_of(std::string("nodes: 1\0\n", 10)), Contains("zero bytes"));
    CHECK_THAT(error_of("nodes: *unknown\n"), Contains("not valid YAML"));
}

TEST_CASE("invalid files end in an error") {
    CHECK_THAT(error_of(std::string(20'000'000, 'a')), Contains("too large"));
    CHECK_THAT(error_of("nodes: " + std::string(100'000, '[')), Contains("m.yaml:1: "));
    CHECK_THAT(error_of("a: " + std::string(60, '[') + std::string(60, ']')), Contains("nested too deeply"));
    CHECK_THAT(error_of("a: &x [*x]\n"), Contains("nested too deeply"));
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        bomb += fmt::format("a{0}: &a{0} [*a{1}", i, i - 1);
        for (int n = 0; n < 9; ++n) bomb += fmt::format(", *a{}", i - 1);
        bomb += "]\n";
    }
    CHECK_THAT(error_of(bomb), Contains("too many values"));
    CHECK_THAT(error_of("\"\\x1b[31m\\nred\": 1\n"), Contains("unknown key '\\x1b[31m\\x0ared'"));
    CHECK_THAT(error_of("nodes: \"1\\n2\"\n"), Contains("\\x0a"));
    CHECK_THAT(error_of("nodes: \xff\xfe\n"), Contains("m.yaml"));
}

TEST_CASE("every kind of parameter is read, printed and read again") {
    const auto tree = parse_config(
        "flag: true\nreal: 2.5\ntext: 'yes: \"no\"'\nwords: [one, 'two, three']\ntime: 3ns\nsize: 1 MiB\n"
        "items:\n  - {number: 1}\n  - {name: second}\n",
        "s.yaml");
    const auto p = read_sample({tree});
    CHECK(p.flag);
    CHECK(p.real == 2.5);
    CHECK(p.words == std::vector<std::string>{"one", "two, three"});
    CHECK(p.time.value == 3000);
    REQUIRE(p.items.size() == 2);
    CHECK(p.items[0].number == 1);
    CHECK(p.items[1].name == "second");
    const auto text = printed(p);
    CHECK(printed(read_sample({parse_config(text, "again.yaml")})) == text);
}

TEST_CASE("lists can be replaced, and single items overridden") {
    const auto tree = parse_config("items: [{number: 1}, {number: 2}]\n", "s.yaml");
    const auto one = read_sample({tree, make_override("items.1.number", "5")});
    REQUIRE(one.items.size() == 2);
    CHECK(one.items[0].number == 1);
    CHECK(one.items[1].number == 5);
    const auto every = read_sample({tree, make_override("items.*.number", "7"), make_override("items.0.number", "8")});
    REQUIRE(every.items.size() == 2);
    CHECK(every.items[0].number == 8);
    CHECK(every.items[1].number == 7);
    CHECK_THROWS_WITH(read_sample({tree, make_override("items.*.nmber", "7")}),
                      Contains("unknown key 'nmber' in items.0"));
    const auto all = read_sample({tree, make_override("items", "[{number: 9}]")});
    REQUIRE(all.items.size() == 1);
    CHECK(all.items[0].number == 9);
    CHECK(read_sample({tree, make_override("words", "[x, y]")}).words == std::vector<std::string>{"x", "y"});
    CHECK_THROWS_WITH(read_sample({tree, make_override("items.2.number", "5")}), Contains("there is no item 2"));
    CHECK_THROWS_WITH(read_sample({tree, make_override("items.01.number", "5")}),
                      Contains("items has no item 01: write 1"));
    CHECK_THROWS_WITH(read_sample({tree, parse_config("items: {00: {number: 5}}\n", "o.yaml")}),
                      Contains("o.yaml:1: items has no item 00: write 0"));
    for (const auto* index : {"-1", "1x", "123456"})
        CHECK_THROWS_WITH(
            read_sample({tree, make_override(std::string("items.") + index + ".number", "5")}),
            Contains(std::string("items has no item ") + index + ": items are numbered from 0 on, * is all of them"));
    CHECK_THROWS_WITH(read_sample({parse_config("items: [{nmber: 1}]\n", "s.yaml")}),
                      Contains("s.yaml:1: unknown key 'nmber' in items.0, did you mean 'number'?"));
    CHECK_THROWS_WITH(read_sample({parse_config("words: [[a]]\n", "s.yaml")}),
                      Contains("must be a list of single values"));
}

TEST_CASE("the resolved configuration of a machine reads back the same") {
    const auto p = read(
        "nodes: [{}, {host: {harts: 3}, images: {append: 'a: \"b\" # c', tohost: true}}]\nsimulation: {log: debug}\n");
    const auto text = printed(p);
    const auto again = read(text);
    CHECK(printed(again) == text);
    CHECK(again.nodes.at(1).host.harts == 3);
    CHECK(again.nodes[1].images.append == "a: \"b\" # c");
    CHECK(again.simulation.log == log_level::debug);
}

TEST_CASE("the schema covers every key and its limits") {
    const auto schema = nlohmann::json::parse(machine_schema());
    const auto& nodes = schema["properties"]["nodes"]["oneOf"];
    CHECK(nodes[0]["minimum"] == 1);
    CHECK(nodes[1]["items"]["oneOf"][1]["$ref"] == "#/$defs/node");
    CHECK(schema["properties"]["node"]["$ref"] == "#/$defs/node");
    CHECK(schema["additionalProperties"] == false);
    const auto& host = schema["$defs"]["node"]["properties"]["host"];
    CHECK(host["properties"]["harts"]["type"] == "integer");
    CHECK(host["properties"]["memory"]["type"] == "string");
    CHECK(host["properties"]["hart"]["properties"]["cpi"]["properties"]["alu"]["type"] == "number");
    CHECK(schema["properties"]["simulation"]["properties"]["log"]["enum"].size() == 4);

    config_schema list;
    sample_params p;
    p.describe(list);
    CHECK(list.schema()["properties"]["items"]["items"]["properties"]["number"]["maximum"] == 99);
}

TEST_CASE("reference and listing show every key with help") {
    const auto page = machine_reference();
    CHECK_THAT(page, Contains("## `node.host.hart.cpi`") && Contains("| `harts` | `1` |") && Contains("`node.images`"));
    config_listing listing;
    auto params = read("nodes: 2\n");
    params.describe(listing);
    CHECK_THAT(listing.text(), Contains("node1") && Contains("harts = 1") && Contains("# number of harts"));
}

TEST_CASE("hints name what was probably meant") {
    const std::vector<std::string> names = {"harts", "memory", "quantum", "uart"};
    CHECK(nearest_name("hart", names) == "harts");
    CHECK(nearest_name("mmeory", names) == "memory");
    CHECK(nearest_name("MEMORY", names) == "memory");
    CHECK(nearest_name("bandwidth", names).empty());
    CHECK(nearest_name("", names).empty());
    CHECK(nearest_name(std::string(100'000, 'a'), names).empty());
}
