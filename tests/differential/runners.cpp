// SPDX-License-Identifier: Apache-2.0
#include "runners.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include <systemc>

#include "base/log.h"
#include "platform/platform.h"

namespace differential {

namespace {
constexpr unsigned time_limit_s = 120;

/// Runs `body` in a child with a time limit. \returns what went wrong, or nothing.
std::string in_child(const std::function<int()>& body) {
    std::fflush(nullptr);
    const auto child = fork();
    if (child < 0) return "fork failed";
    if (child == 0) {
        const int status = body();
        std::fflush(nullptr);
        _exit(status);
    }
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(time_limit_s);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > limit) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return "did not end in " + std::to_string(time_limit_s) + " s";
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (WIFSIGNALED(status)) return "died of signal " + std::to_string(WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : "exit status " + std::to_string(WEXITSTATUS(status));
}

int qemu(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "qemu-system-riscv64");
    std::vector<char*> argv;
    for (auto& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    const int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    execvp(argv[0], argv.data());
    return 127;
}

int fabricvp_child(guest_memory& memory, unsigned translate_after, std::uint64_t& instructions) {
    namespace fv = fabricvp;
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
    try {
        auto p = fv::platform::from_text("node: {host: {harts: 1, memory: 64 MiB}}\nsimulation: {translate_after: " +
                                             std::to_string(translate_after) + "}\n",
                                         "differential");
        fv::set_log_sink([](fv::log_level, const std::string&, const std::string&) {});  // guests misbehave by intent
        p->write_memory(0, LAYOUT_DRAM, memory.bytes(), LAYOUT_LOG - LAYOUT_DRAM);
        const auto result = p->run_until(fv::ticks(100) * 1'000'000'000'000);
        p->read_memory(0, LAYOUT_DRAM, memory.bytes(), guest_memory::size);
        for (const auto& [name, value] : p->statistics())
            if (name == "sim.instructions") instructions = static_cast<std::uint64_t>(value);
        if (result.outcome == fv::run_outcome::power_off) return 0;
        std::fprintf(stderr, "%s\n", result.detail.c_str());
        return 3;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 4;
    }
}
}  // namespace

bool qemu_present() {
    return in_child([] { return qemu({"--version"}); }).empty();
}

run_outcome run_on_qemu(guest_memory& memory) {
    // Two harts, so that QEMU uses real atomics: with one it makes loads and stores of an AMO, and reports the load's
    // faults. The second hart sleeps. Extensions that the hart under test lacks are off.
    const std::string cpu = "rv64,h=false,zbc=false,sscofpmf=false,Zfhmin=false,svinval=false,Zihintpause=true";
    return {in_child([&] {
                return qemu({"-M",         "virt,memory-backend=ram",
                             "-object",    "memory-backend-file,id=ram,size=64M,share=on,mem-path=" + memory.path(),
                             "-m",         "64M",
                             "-smp",       "2",
                             "-cpu",       cpu,
                             "-accel",     "tcg,thread=multi",
                             "-bios",      "none",
                             "-display",   "none",
                             "-serial",    "none",
                             "-monitor",   "none",
                             "-nodefaults"});
            }),
            0};
}

run_outcome run_on_fabricvp(guest_memory& memory, unsigned translate_after) {
    auto* const shared =
        static_cast<std::uint64_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (shared == MAP_FAILED) return {"mmap failed", 0};
    run_outcome o;
    o.failure = in_child([&] { return fabricvp_child(memory, translate_after, *shared); });
    o.instructions = *shared;
    munmap(shared, 4096);
    return o;
}

}  // namespace differential

int sc_main(int, char*[]) { return 0; }
