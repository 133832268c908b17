// SPDX-License-Identifier: Apache-2.0
// Fuzzes the GDB packet parser and a whole session against fake harts: seeded mutations of real dialogues, random
// bytes, and random runs of the machine between them. A round ends with the debugger gone, and fails if it left
// anything behind, if a reply breaks the protocol, or (in the sanitizer build) at the first bad access.
//
// usage: fuzz_gdb [rounds] [seed]
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <systemc>

#include "fake_machine.h"
#include "platform/gdb/hex.h"
#include "platform/gdb/packet_parser.h"
#include "platform/gdb/session.h"

namespace {

using namespace fabricvp;
using testing::fake_machine;

const std::vector<std::string> dialogues = {
    "qSupported:multiprocess+;swbreak+;hwbreak+;qRelocInsn+;fork-events+;vContSupported+;xmlRegisters=i386",
    "vMustReplyEmpty",
    "QStartNoAckMode",
    "Hgp1.1",
    "Hg0",
    "Hcp1.-1",
    "Hc-1",
    "?",
    "!",
    "qfThreadInfo",
    "qsThreadInfo",
    "qThreadExtraInfo,p1.2",
    "qAttached:1",
    "qC",
    "qTStatus",
    "qSymbol::",
    "qOffsets",
    "qXfer:features:read:target.xml:0,ffb",
    "qXfer:features:read:target.xml:ffb,ffb",
    "qXfer:memory-map:read::0,ffb",
    "g",
    "G0000000000000000010000000000000002000000000000000300000000000000",
    "p20",
    "p1041",
    "p341",
    "pfff",
    "Pa=8877665544332211",
    "P20=0000008000000000",
    "P42=1f000000",
    "m80000000,40",
    "x80000000,40",
    "mfffffffffffffff8,10",
    "m8000fffe,8",
    "M80002000,4:01020304",
    "X80002000,4:ab}]d",
    "X80002000,0:",
    "Z0,80000010,4",
    "Z1,80000018,2",
    "Z2,80001000,4",
    "Z3,80001000,8",
    "Z4,80001000,1",
    "z0,80000010,4",
    "z1,80000018,2",
    "z2,80001000,4",
    "z4,80001000,1",
    "vCont?",
    "vCont;c",
    "vCont;c:p1.-1",
    "vCont;s:p1.1;c",
    "vCont;s:p1.2",
    "vCont;t",
    "vCont;C05;S05:p1.1",
    "c",
    "s",
    "c80000000",
    "C05;80000004",
    "S05",
    "vCtrlC",
    "Tp1.1",
    "D",
    "D;1",
    "vAttach;1",
    "vKill;1",
    "k",
    "qRcmd,68656c70",
    "qRcmd,7374617473206e6f646530",
    "qRcmd,737461747320726573657420",
    "qRcmd,7265736574",
    "qRcmd,7472616365206f6e2078",
    "qRcmd,74696d65",
    "R00",
    "vRun;",
    "vFile:open:2f,0,0"};

class fuzzer {
public:
    explicit fuzzer(std::uint64_t seed) : m_random(seed) {}

    void round() {
        fake_machine machine(static_cast<unsigned>(1 + pick(3)));
        const auto process = machine.process();
        const auto hooks = machine.hooks();
        {
            gdb::run_control run(process.threads, hooks);
            for (std::size_t debuggers = 1 + pick(2); debuggers-- > 0;) talk(machine, process, hooks, run);
        }
        if (!machine.clean()) throw std::runtime_error("a debugger left something behind");
    }

private:
    std::size_t pick(std::size_t count) { return m_random() % count; }

    void talk(fake_machine& machine, const gdb_process& process, const gdb_hooks& hooks, gdb::run_control& run) {
        gdb::packet_parser parser;
        run.attach();
        gdb::session session(process, hooks, run, [](std::string_view reply) {
            if (reply.size() > gdb::packet_parser::max_payload) throw std::runtime_error("a reply is too long");
        });
        for (std::size_t packets = 1 + pick(40); packets-- > 0 && !session.over();) {
            for (const char byte : something()) {
                const auto event = parser.feed(byte);
                if (parser.payload().size() > gdb::packet_parser::max_payload)
                    throw std::runtime_error("a packet is too long");
                if (!event || session.over()) continue;
                if (*event == gdb::packet_event::interrupt) session.interrupt();
                if (*event == gdb::packet_event::packet) session.receive(parser.payload());
                session.report_stop();
            }
            if (!run.attached() || run.running()) machine.run(static_cast<unsigned>(pick(40)));
            session.report_stop();
            check(machine, run);
        }
        if (pick(4) == 0) session.report_exit(static_cast<int>(pick(256)));
        run.detach();
    }

    /// All-stop: no hart runs while the debugger holds the process.
    void check(const fake_machine& machine, const gdb::run_control& run) {
        if (!run.attached() || run.running()) return;
        for (const auto& hart : machine.harts)
            if (!hart->halted()) throw std::runtime_error("a hart runs although the debugger holds the process");
    }

    std::string something() {
        if (pick(40) == 0) return noise(1 + pick(100));
        if (pick(60) == 0) return gdb::encode_packet(std::string(pick(0x5000), static_cast<char>(pick(256))));
        if (pick(20) == 0) return "\x03";
        std::string payload = dialogues[pick(dialogues.size())];
        if (pick(3) == 0) mutate(payload);
        std::string framed = gdb::encode_packet(payload);
        if (pick(20) == 0) mutate(framed);
        return framed;
    }

    void mutate(std::string& text) {
        static const std::vector<std::string> tokens = {
            "-1",       "p1.", "p", ";", ":", ",",      "ffffffffffffffff",   "0",       "8000000000000000",
            "7fffffff", "}",   "#", "$", "=", "vCont;", std::string(1, '\0'), "80000000"};
        for (std::size_t times = 1 + pick(4); times-- > 0;) {
            const std::size_t at = pick(text.size() + 1);
            switch (pick(6)) {
                case 0: text.insert(at, 1, static_cast<char>(pick(256))); break;
                case 1: text.insert(at, tokens[pick(tokens.size())]); break;
                case 2: text.erase(at, 1 + pick(4)); break;
                case 3:
                    if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << pick(8)));
                    break;
                case 4: text.resize(at); break;
                case 5: text += text.substr(at, pick(16)); break;
            }
        }
    }

    std::string noise(std::size_t size) {
        std::string bytes;
        while (bytes.size() < size) bytes.push_back(static_cast<char>(pick(256)));
        return bytes;
    }

    std::mt19937_64 m_random;
};

}  // namespace

int sc_main(int argc, char* argv[]) {
    const auto rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1000;
    const auto seed = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1;
    for (std::uint64_t n = 0; n < rounds; ++n) {
        try {
            fuzzer(seed << 32 | n).round();
        } catch (const std::exception& e) {
            fmt::print(stderr, "fuzz_gdb: {} (again with: fuzz_gdb {} {})\n", e.what(), n + 1, seed);
            return 1;
        }
    }
    fmt::print("fuzz_gdb: {} dialogues of seed {}\n", rounds, seed);
    return 0;
}
