// SPDX-License-Identifier: Apache-2.0
// Runs random programs on the platform and on QEMU and compares everything that the specification defines.
#include <cstdio>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include "comparison.h"
#include "minimiser.h"
#include "runners.h"

namespace {

using namespace differential;
namespace po = boost::program_options;

struct options {
    std::uint64_t seed = 1, instructions = 1'000'000;
    unsigned sequences = 800, units = 250, translate_after = 0;
    bool minimise = true;
    std::string runtime;
};

void report(const options& o, const program& p, const image_options& image, const difference& d, bench& b) {
    fmt::print("MISMATCH with seed {} (--sequences {} --units {})", image.seed, o.sequences, o.units);
    if (d.sequence >= 0)
        fmt::print(", sequence {} at {:#x}", d.sequence, p.entry(static_cast<std::size_t>(d.sequence)));
    fmt::print("\n{}", d.what);
    std::fflush(stdout);
    if (d.sequence < 0) return;
    const auto n = static_cast<std::size_t>(d.sequence);
    program smaller(image);
    if (o.minimise) {
        if (const auto smallest = minimise(smaller, n, b))
            fmt::print("\nReduced to:\n{}", smallest->what);
        else
            fmt::print("\nDoes not happen when the sequence runs alone.\n");
    }
    fmt::print("\n{}", listing(smaller.at(n), p.entry(n)));
}

int run(const options& o) {
    if (!qemu_present()) {
        fmt::print("skipped: qemu-system-riscv64 is not installed (Debian: qemu-system-misc)\n");
        return 77;
    }
    bench b(o.runtime, o.translate_after);
    std::uint64_t executed = 0, traps = 0, images = 0;
    for (image_options image{o.seed, o.sequences, o.units}; executed < o.instructions; ++image.seed) {
        const program p(image);
        const auto d = b.try_program(p);
        const auto counted = b.random_instructions();
        executed += counted;
        traps += b.traps();
        if (d) {
            report(o, p, image, *d, b);
            return 1;
        }
        if (counted == 0)
            throw std::runtime_error(
                fmt::format("nothing was executed: {} instructions, {} traps", b.instructions(), b.traps()));
        ++images;
    }
    fmt::print("{} instructions and {} traps in {} images agree\n", executed, traps, images);
    return 0;
}

}  // namespace

int main(int argc, char* argv[]) try {
    options o;
    bool keep = false;
    po::options_description d("options");
    d.add_options()("help", "this text")("seed", po::value(&o.seed), "of the first image")(
        "instructions", po::value(&o.instructions), "to execute, about")("sequences", po::value(&o.sequences),
                                                                         "in an image, at most 1000")(
        "units", po::value(&o.units), "of a sequence, about")("no-minimise", po::bool_switch(&keep),
                                                              "report a mismatch as it is")(
        "translate-after", po::value(&o.translate_after),
        "entries after which blocks of code are translated (default: 0, never)")(
        "runtime", po::value(&o.runtime)->required(), "ELF of the guest's runtime");
    po::variables_map v;
    po::store(po::parse_command_line(argc, argv, d), v);
    if (v.count("help")) {
        std::cout << d;
        return 0;
    }
    po::notify(v);
    o.minimise = !keep;
    return run(o);
} catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
}
