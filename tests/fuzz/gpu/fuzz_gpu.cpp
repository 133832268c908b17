// SPDX-License-Identifier: Apache-2.0
// Fuzzes what guests give a GPU. A machine runs an application up to the middle of a kernel; each trial is a child of
// that process, changes something, and runs on. A trial fails if it ends by a signal, by an exception, or not at all.
//
//   tables     entries of the page tables
//   processor  random instructions as the firmware of the command processor, with registers that hold its addresses
//   control    words of the host's registers, of the command processor's registers and of its memory, while it runs
//   kernels    random instructions in the kernel that runs, with random registers in each lane, so that lanes diverge
//   packets    random AQL packets and kernel descriptors in its queues
//
// usage: fuzz_gpu MODE [rounds] [seed]; a trial alone: fuzz_gpu MODE 1 SEED
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <systemc>

#include "gpu/fuzzed_machine.h"

namespace {

using namespace fabricvp::fuzz;

const std::map<std::string, std::function<void(source&, fuzzed_machine&)>> modes = {{"tables", fuzz_tables},
                                                                                    {"processor", fuzz_processor},
                                                                                    {"control", fuzz_control},
                                                                                    {"kernels", fuzz_kernels},
                                                                                    {"packets", fuzz_packets}};

/// \returns how the trial ended; empty: as it should
std::string trial(const std::function<void(source&, fuzzed_machine&)>& mode, std::uint64_t seed, fuzzed_machine& m) {
    std::fflush(nullptr);
    const auto child = ::fork();
    if (child < 0) return "cannot fork";
    if (child == 0) {
        ::alarm(60);
        int status = 0;
        try {
            source random(seed);
            mode(random, m);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "fuzz_gpu: %s\n", e.what());
            status = 1;
        }
        std::_Exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) ? fmt::format("status {}", WEXITSTATUS(status)) : "";
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    const auto mode = argc > 1 ? modes.find(argv[1]) : modes.end();
    if (mode == modes.end()) {
        std::fprintf(stderr, "usage: fuzz_gpu tables|processor|control|kernels|packets [rounds] [seed]\n");
        return 2;
    }
    const auto rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1000;
    const auto first = argc > 3 ? std::strtoull(argv[3], nullptr, 0) : 1;
    unsigned failed = 0;
    try {
        fuzzed_machine machine;
        for (std::uint64_t seed = first; seed < first + rounds && failed < 10; ++seed) {
            const auto why = trial(mode->second, seed, machine);
            if (why.empty()) continue;
            ++failed;
            fmt::print(stderr, "fuzz_gpu {}: {}; again with: fuzz_gpu {} 1 {}\n", mode->first, why, mode->first, seed);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "fuzz_gpu: %s\n", e.what());
        return 2;
    }
    fmt::print("fuzz_gpu {}: {} trials from seed {}, {} failed\n", mode->first, rounds, first, failed);
    return failed ? 1 : 0;
}
