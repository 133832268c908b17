// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of configurations with changed stock machines, pieces of YAML, and noise, and with overrides. An
// input is refused in one line, or its resolved form reads back to the same parameters.
//
// usage: fuzz_yaml [rounds] [seed]
#include <filesystem>
#include <utility>
#include <vector>

#include <systemc>

#include "common/mutator.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/config/config_printer.h"
#include "platform/config/machine_reader.h"
#include "platform/params/machine_params.h"

namespace {

using namespace fabricvp;

std::string resolved(machine_params params) {
    config_printer printer;
    params.describe(printer);
    return printer.text();
}

std::vector<std::string> starting_texts() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(CONFIGS)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts = {"node: &n\n  host: {harts: 2}\nnodes:\n  - {}\n  - host:\n      memory: 64 MiB\n",
                                      "simulation: {quantum: 100 ns, seed: 7, log: debug}\n",
                                      resolved(machine_params())};
    for (const auto& path : paths) texts.push_back(read_file(path.string(), 1 << 20));
    return texts;
}

const std::vector<std::string> tokens = {"\n",     "  ",
                                         ": ",     "- ",
                                         "[",      "]",
                                         "{",      "}",
                                         ",",      "\"",
                                         "'",      "#",
                                         "&a ",    "*a",
                                         "!!str ", "!<x> ",
                                         "|\n",    ">\n",
                                         "? ",     "---\n",
                                         "...\n",  "%YAML 1.2\n",
                                         "\t",     "<<: ",
                                         "~",      "null",
                                         "0x",     "-1",
                                         "1e400",  "18446744073709551616",
                                         "nan",    ".inf",
                                         "4 GiB",  "0.5 ns",
                                         "1 Hz",   "99999999999 GHz",
                                         "node0",  "  - host: {harts: 3}\n",
                                         "node",   "nodes: 3\n",
                                         "images", "append: ",
                                         "\\x00",  "\xef\xbb\xbf",
                                         "\xff",   "\xc3\xa9"};

const std::vector<std::string> keys = {"node.host.harts",
                                       "node0.host.memory",
                                       "node1.host.harts",
                                       "simulation.quantum",
                                       "nodes",
                                       "node.images.append",
                                       "node.host.hart.cpi.alu",
                                       "node",
                                       "node.host",
                                       "",
                                       ".",
                                       "node.host.harts.x"};

bool yaml_round(std::uint64_t seed) {
    static const auto texts = starting_texts();
    fuzz::mutator random(seed);
    auto text = random.pick(50) ? random.one_of(texts) : random.noise(random.pick(300));
    for (auto changes = random.pick(6); changes-- > 0;) random.mutate(text, tokens);
    if (random.pick(200) == 0)
        text.insert(random.pick(text.size() + 1), std::string(random.pick(20'000), random.one_of(tokens).back()));

    std::vector<std::pair<std::string, std::string>> set;
    for (auto count = random.pick(4) / 2; count-- > 0;) {
        std::pair<std::string, std::string> pair = {random.one_of(keys), random.one_of(tokens)};
        random.mutate(random.pick(2) ? pair.first : pair.second, tokens);
        set.push_back(pair);
    }
    try {
        const auto first = resolved(read_machine_params(text, "fuzzed.yaml", set));
        std::string second;
        try {
            second = resolved(read_machine_params(first, "resolved.yaml", {}));
        } catch (const input_error& e) {
            throw std::runtime_error(std::string("a resolved configuration is refused: ") + e.what());
        }
        if (first != second) throw std::runtime_error("a resolved configuration reads back differently");
        return true;
    } catch (const input_error& e) {
        fuzz::check_message(e);
        return false;
    }
}

}  // namespace

int sc_main(int argc, char* argv[]) { return fuzz::run("fuzz_yaml", argc, argv, yaml_round); }
