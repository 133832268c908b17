// SPDX-License-Identifier: Apache-2.0
// Names are paths: the key of a block, its SystemC instance, the prefix of its statistics, the target of its faults and
// what --set takes are one word. Walked over every shipped configuration, each in a process of its own.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "base/described_blocks.h"
#include "base/fault.h"
#include "child_process.h"
#include "platform/common/input_error.h"
#include "platform/config/machine_reader.h"
#include "platform/machine.h"
#include "platform/params/machine_params.h"
#include "platform/platform.h"

using namespace fabricvp;

namespace {

// What the shipped machines lack: interrupt files, caches, a disk, generators.
constexpr const char* everything = R"(
network:
  switches: [{name: spine}]
  generators: [{name: left}, {name: right}]
  links: [{from: left, to: spine}, {from: right, to: spine}, {from: node0.hca0, to: spine}]
node:
  host: {harts: 2, interrupts: aplic_imsic, memory_timing: caches}
  pcie:
    switches: [{name: top, below: root}]
    endpoints: [{name: disk, below: top, kind: virtio_blk}, {name: engine, below: root}]
  gpus: [{name: left, below: top, compute_units: 8}, {below: top, compute_units: 1},
         {name: near, below: host, compute_units: 1}]
  hcas: [{below: top}, {name: adapter}]
  fabric:
    switches: [{name: middle, cluster: 0}]
    generators: [{name: g0}]
    links: [{from: left, to: middle}, {from: gpu1, to: middle}, {from: g0, to: middle}]
)";

/// Paths of described groups and blocks, and of all parameters with their values.
class collector final : public named_blocks {
public:
    std::set<std::string> groups;
    std::vector<std::pair<std::string, std::string>> parameters;

private:
    void visit(parameter& p) override {
        if (p.kind != parameter_kind::text_list) parameters.emplace_back(path(p.name), p.text());
    }
    bool enter(const char* name, const char*) override {
        m_open.push_back(path(name));
        groups.insert(m_open.back());
        return true;
    }
    void leave() override { m_open.pop_back(); }
    std::size_t enter_list(const char* name, const char*, std::size_t size) override {
        open_list();
        m_open.push_back(path(lists_blocks() ? "" : name));
        return size;
    }
    void enter_item(std::size_t index) override {
        m_open.push_back(path(item_name(index)));
        if (lists_blocks()) groups.insert(m_open.back());
    }
    void leave_list() override {
        m_open.pop_back();
        close_list();
    }

    std::string path(const std::string& name) const {
        const auto outer = m_open.empty() ? "" : m_open.back();
        return outer.empty() || name.empty() ? outer + name : outer + "." + name;
    }
    std::vector<std::string> m_open;
};

/// All blocks of the machine: the models of the SystemC hierarchy.
void add_models(const std::vector<sc_core::sc_object*>& objects, std::set<std::string>& to) {
    for (auto* o : objects) {
        if (dynamic_cast<model*>(o)) to.insert(o->name());
        add_models(o->get_child_objects(), to);
    }
}

bool matches(const std::string& text, const char* pattern) { return std::regex_match(text, std::regex(pattern)); }

std::string without_number(const std::string& word) { return word.substr(0, word.find_last_not_of("0123456789") + 1); }

/// The key whose parameters a block takes, given that of the block around it; empty where there is none.
std::string key_of(const std::string& outer, const std::string& word, const std::set<std::string>& keys) {
    for (const auto& key : {outer + "." + word, outer + "." + without_number(word)})
        if (keys.count(key)) return key;
    if (matches(outer, R"(node\d+\.host)") && matches(word, "imsic_[ms]")) return outer + ".imsic";
    if (matches(outer, R"(node\d+\.fabric)") && !matches(word, "lanes_.*"))
        return outer + ".device";  // where a GPU is attached
    return "";
}

/// Blocks without parameters of their own.
bool needs_no_key(const std::string& path) {
    return matches(
        path,
        R"(calendar|node\d+|node\d+\.host\.(boot_rom|finisher|plic|aplic_[ms]|aplic_msi|pcie(\..*)?)|.*\.transmitter)"
        R"(|node\d+\.kernels|node\d+\.\w+\.(system|fabric|devices|\w+_window|memory\.l2\.bank\d+))"
        R"(|node\d+\.fabric\.(lanes_\w+|\w+\.(queue|to_\w+|link))|network\.\w+\.(to_\w+|agent)|network\.administration)"
        R"(|node\d+\.\w+\.(icm|doorbell_records|event_queues|completion_queues|shared_receive_queues|queue_pairs))"
        R"(|node\d+\.\w+\.(management|data_mover|network\.absent_peer))");
}

/// Groups that stand for no block: parts of the parameters of the block around them.
bool is_no_block(const std::string& key) {
    return matches(key, R"(simulation|node\d+|node\d+\.images|.*\.(cpi|issue|result_latency|register_file|input))"
                        R"(|node\d+\.fabric\.(packet|.*stage)|.*\.host\.caches\.\w+)"
                        R"(|network\.\w+\.port|node\d+\.\w+\.limits|node\d+\.energy\.\w+_core)");
}

/// Whether a machine may do without the block of a key.
bool is_optional(const std::string& key) {
    return matches(key, R"((network|ethernet)(\..*)?|node\d+\.(pcie|fabric|host\.caches|host\.imsic)(\..*)?)"
                        R"(|.*\.hart\.instruction_cache)");
}

std::string problems_of(const std::string& yaml, const std::string& name) {
    std::ostringstream found;
    const auto machine = platform::from_text(yaml, name);
    auto params = machine->hardware().params;
    collector described;
    params.describe(described);

    std::set<std::string> blocks;
    add_models(sc_core::sc_get_top_level_objects(), blocks);
    std::set<std::string> used;
    std::map<std::string, std::string> key_of_block;
    for (const auto& path : blocks) {  // outer blocks come before inner ones
        const auto dot = path.rfind('.');
        const auto outer = dot == std::string::npos ? "" : path.substr(0, dot);
        auto key = outer.empty() ? (described.groups.count(path) ? path : "")
                                 : key_of(key_of_block.count(outer) ? key_of_block[outer] : outer, path.substr(dot + 1),
                                          described.groups);
        if (key.empty() && !needs_no_key(path)) found << path << ": no key describes this block\n";
        key_of_block[path] = key.empty() ? path : key;
        used.insert(key_of_block[path]);
    }
    for (const auto& key : described.groups)
        if (!used.count(key) && !is_no_block(key) && !is_optional(key)) found << key << ": there is no such block\n";
    for (const auto* f : all_faults())
        if (!blocks.count(f->target())) found << f->target() << ": target of faults, but no block\n";
    for (const auto* s : all_statistics()) {
        auto path = s->path();
        while (!path.empty() && !blocks.count(path))
            path.resize(path.find_last_of('.') == std::string::npos ? 0 : path.find_last_of('.'));
        const bool of_node = matches(s->path(), R"(node\d+\.faults\.\w+)");  // its power, for one
        if (matches(path, R"(|calendar|node\d+)") && !of_node) found << s->path() << ": a statistic of no block\n";
    }
    return found.str();
}

std::vector<std::filesystem::path> shipped() {
    std::vector<std::filesystem::path> all;
    for (const auto& e : std::filesystem::directory_iterator(CONFIGS))
        if (e.path().extension() == ".yaml") all.push_back(e.path());
    std::sort(all.begin(), all.end());
    return all;
}

std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("blocks, statistics, faults and keys have the same names") {
    REQUIRE(shipped().size() > 8);
    for (const auto& path : shipped())
        CHECK(test::in_child([&] { return problems_of(contents(path), path.string()); }) == "");
    CHECK(test::in_child([] { return problems_of(everything, "everything.yaml"); }) == "");
}

TEST_CASE("every parameter can be overridden by its path") {
    auto params = read_machine_params(everything, "everything.yaml", {});
    collector described;
    params.describe(described);
    REQUIRE(described.parameters.size() > 300);
    for (const auto& [path, value] : described.parameters) {
        if (matches(path, R"(nodes|.*\.name|.*\.(switches|endpoints|gpus|generators)\..*)")) continue;
        INFO(path << " = " << value);
        REQUIRE_NOTHROW(read_machine_params(everything, "everything.yaml", {{path, value}}));
    }
    const auto changed = read_machine_params(everything, "everything.yaml",
                                             {{"node0.left.memory.gmmu.walkers", "3"},
                                              {"node.gpu1.memory.gmmu.walkers", "5"},
                                              {"node0.pcie.disk.queues", "4"},
                                              {"node0.fabric.g0.requests", "9"}});
    CHECK(changed.nodes[0].devices.gpus[0].core.memory.gmmu.walkers == 3);
    CHECK(changed.nodes[0].devices.gpus[1].core.memory.gmmu.walkers == 5);
    CHECK(changed.nodes[0].fabric.generators[0].requests == 9);
}

namespace {

std::string refused(const std::string& yaml, const platform::overrides& set = {}) {
    try {
        read_machine_params(yaml, "m.yaml", set);
    } catch (const input_error& e) {
        return e.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("names of one parent's children are unique") {
    using Catch::Matchers::StartsWith;
    CHECK_THAT(refused("node:\n  gpus:\n    - {name: host}\n"),
               StartsWith("m.yaml:3: the name 'host' is taken: a key beside this list"));
    CHECK_THAT(refused("node:\n  gpus:\n    - {name: a}\n    - name: a\n"),
               StartsWith("m.yaml:4: the name 'a' is taken: m.yaml:3 has it"));
    CHECK_THAT(refused("node:\n  gpus:\n    - {name: gpu1}\n    - {clock: 1 GHz}\n"),
               StartsWith("m.yaml:4: the name 'gpu1' is taken: m.yaml:3"));
    CHECK_THAT(refused("node:\n  pcie:\n    switches: [{name: x}]\n    endpoints: [{name: x}]\n"),
               StartsWith("m.yaml:4: the name 'x' is taken: m.yaml:3"));
    CHECK_THAT(refused("node:\n  pcie:\n    endpoints: [{name: root}]\n"),
               StartsWith("m.yaml:3: the name 'root' is taken"));
    CHECK_THAT(refused("node:\n  gpus: [{name: a}]\n  fabric:\n    switches:\n      - {name: a}\n"),
               StartsWith("m.yaml:5: the name 'a' is taken: a GPU has it"));
    CHECK_THAT(refused("node:\n  gpus: [{name: a-b}]\n"), StartsWith("m.yaml:2: node.gpus.0.name: 'a-b' is no name"));
    CHECK_THAT(refused("node:\n  pcie:\n    endpoints:\n      - {below: root}\n"),
               StartsWith("m.yaml:4: node.pcie.endpoints.0.name: '' is no name"));
    CHECK_THAT(refused("node:\n  gpus: [{name: a}]\n", {{"node.a.name", "b"}}),
               StartsWith("--set 'node.a.name=b': node.a has its name already"));
}

TEST_CASE("a block's own key lies over what its list says, where it was written later") {
    const std::string yaml =
        "node: {gpus: [{compute_units: 2}, {compute_units: 3}], gpu1: {compute_units: 4}}\nnodes: [{gpu0: "
        "{compute_units_per_scalar_cache: "
        "2}}]\n";
    const auto gpus = [&](const platform::overrides& set) {
        return read_machine_params(yaml, "m.yaml", set).nodes[0].devices.gpus;
    };
    CHECK(gpus({})[0].core.compute_units == 2);
    CHECK(gpus({})[0].core.compute_units_per_scalar_cache == 2);
    CHECK(gpus({})[1].core.compute_units == 4);
    CHECK(gpus({{"node.gpus.1.compute_units", "5"}})[1].core.compute_units == 5);
    CHECK(gpus({{"node.gpus.*.compute_units", "5"}, {"node.gpu1.compute_units", "6"}})[1].core.compute_units == 6);
    CHECK_THAT(refused(yaml, {{"node.gpu2.compute_units", "1"}}),
               Catch::Matchers::StartsWith(
                   "--set 'node.gpu2.compute_units=1': unknown key 'gpu2' in node, did you mean 'gpu"));
}

TEST_CASE("memories of GPUs are powers of two below 1 GiB and whole GiB from there") {
    const auto with = [](const std::string& size) {
        return refused("node:\n  gpus:\n    - memory:\n        capacity: " + size + "\n");
    };
    for (const char* size : {"1 MiB", "512 MiB", "1 GiB", "3 GiB", "24 GiB", "48 GiB", "80 GiB", "1024 GiB"})
        CHECK(with(size) == "accepted");
    for (const char* size : {"100 MiB", "3.5 GiB", "1536 MiB", "3 MiB"})
        CHECK_THAT(with(size),
                   Catch::Matchers::StartsWith("m.yaml:4: memory.capacity is ") &&
                       Catch::Matchers::EndsWith("give a power of two below 1 GiB or whole GiB from there"));
}
