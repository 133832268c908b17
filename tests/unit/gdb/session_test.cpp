// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "fake_machine.h"
#include "platform/gdb/hex.h"
#include "platform/gdb/packet_parser.h"
#include "platform/gdb/session.h"

using namespace fabricvp;
using fabricvp::testing::fake_hart;
using fabricvp::testing::fake_machine;

namespace {

/// A debugger that speaks payloads to a session on two fake harts.
struct bench {
    explicit bench(unsigned harts = 2) : machine(harts), process(machine.process()), hooks(machine.hooks()) {
        run.attach();
        session.emplace(process, hooks, run, [this](std::string_view s) { replies.emplace_back(s); });
    }

    std::string ask(std::string_view payload) {
        replies.clear();
        session->receive(payload);
        session->report_stop();
        return replies.empty() ? "(none)" : replies.back();
    }
    /// Runs the machine and returns the stop reply, if any.
    std::string go(unsigned instructions = 100) {
        replies.clear();
        machine.run(instructions);
        session->report_stop();
        return replies.empty() ? "(none)" : replies.back();
    }
    std::string monitor(const std::string& line) {
        CHECK(ask("qRcmd," + gdb::to_hex(line)) == "OK");
        std::string text, part;
        for (const auto& r : replies)
            if (r.front() == 'O' && r != "OK" && gdb::from_hex(r.substr(1), part)) text += part;
        return text;
    }
    void negotiate() { ask("qSupported:multiprocess+;swbreak+;hwbreak+;vContSupported+"); }

    fake_machine machine;
    gdb_process process;
    gdb_hooks hooks;
    gdb::run_control run{process.threads, hooks};
    std::optional<gdb::session> session;
    std::vector<std::string> replies;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("features are negotiated") {
    bench b;
    const auto features = b.ask("qSupported:multiprocess+;xmlRegisters=i386;swbreak+;hwbreak+");
    for (const char* f : {"PacketSize=4000", "qXfer:features:read+", "qXfer:memory-map:read+", "vContSupported+",
                          "multiprocess+", "swbreak+", "hwbreak+", "QStartNoAckMode+"})
        CHECK(contains(features, f));
    CHECK(b.ask("vMustReplyEmpty") == "");
    CHECK(b.ask("vCont?") == "vCont;c;C;s;S;t");
    CHECK(b.ask("qAttached:1") == "1");
    CHECK(b.ask("qSymbol::") == "OK");
    CHECK(b.ask("qOffsets") == "");
    CHECK_FALSE(b.session->no_acknowledge());
    CHECK(b.ask("QStartNoAckMode") == "OK");
    CHECK(b.session->no_acknowledge());
    CHECK(b.ask("_") == "");
    CHECK(b.ask("") == "");
}

TEST_CASE("harts are threads of their node's process") {
    bench b;
    CHECK(b.ask("qfThreadInfo") == "m1,2");
    b.negotiate();
    CHECK(b.ask("qfThreadInfo") == "mp1.1,p1.2");
    CHECK(b.ask("qsThreadInfo") == "l");
    CHECK(b.ask("qC") == "QCp1.1");
    CHECK(b.ask("qThreadExtraInfo,p1.2") == gdb::to_hex("node0.host.hart1 halted"));
    CHECK(b.ask("qThreadExtraInfo,p1.3") == "E01");
    CHECK(b.ask("Tp1.2") == "OK");
    CHECK(b.ask("Tp1.3") == "E01");
    CHECK(b.ask("Tp2.1") == "E01");
    CHECK(b.ask("Hgp1.2") == "OK");
    CHECK(b.ask("qC") == "QCp1.2");
    CHECK(b.ask("Hgp1.0") == "OK");
    CHECK(b.ask("qC") == "QCp1.2");
    CHECK(b.ask("Hgp1.9") == "E01");
    CHECK(b.ask("Hx1") == "E01");
    CHECK(b.ask("Hc-1") == "OK");
}

TEST_CASE("hundreds of threads are listed in several packets") {
    bench b(4000);
    b.negotiate();
    std::string all, part = b.ask("qfThreadInfo");
    unsigned packets = 0;
    for (; part.front() == 'm'; part = b.ask("qsThreadInfo"), ++packets) {
        CHECK(part.size() <= gdb::packet_parser::max_payload);
        all += "," + part.substr(1);
    }
    CHECK(packets > 1);
    CHECK(std::count(all.begin(), all.end(), 'p') == 4000);
    CHECK(contains(all, ",p1.fa0"));
}

TEST_CASE("registers are read and written, per thread") {
    bench b;
    b.machine.harts[1]->x[10] = 0x1122334455667788;
    CHECK(b.ask("Hg2") == "OK");
    CHECK(b.ask("pa") == "8877665544332211");
    CHECK(b.ask("p20") == "0000008000000000");
    const auto all = b.ask("g");
    CHECK(all.size() == 33 * 16);
    CHECK(all.substr(10 * 16, 16) == "8877665544332211");
    CHECK(b.ask("Pb=0100000000000000") == "OK");
    CHECK(b.machine.harts[1]->x[11] == 1);
    CHECK(b.machine.harts[0]->x[11] == 0);
    CHECK(b.ask("P0=0100000000000000") == "OK");
    CHECK(b.ask("p21") == "0000000000000000");     // f0
    CHECK(b.ask("P2a=000000000000f83f") == "OK");  // f9 = 1.5
    CHECK(b.machine.harts[1]->f[9] == 0x3ff8000000000000);
    CHECK(b.ask("p42") == "00000000");           // fflags
    CHECK(b.ask("p341") == "000000000a000000");  // mstatus
    CHECK(b.ask("P341=0200000000000000") == "OK");
    CHECK(b.machine.harts[1]->csrs[0x300] == 2);
    CHECK(b.ask("p1041") == "0300000000000000");  // priv
    auto changed = all;
    changed.replace(10 * 16, 16, "0500000000000000");
    CHECK(b.ask("G" + changed) == "OK");
    CHECK(b.machine.harts[1]->x[10] == 5);
}

TEST_CASE("bad register packets are refused") {
    bench b;
    for (const char* p :
         {"p", "pzz", "p1042", "p40000000000000000", "p345", "P", "Pa", "Pa=", "Pa=12", "Pa=zz00000000000000",
          "Pa=010000000000000000", "P345=0000000000000000", "G", "G12", "Gzz00000000000000"})
        CHECK(b.ask(p) == "E01");
    CHECK(b.ask("G" + std::string(34 * 16, '0')) == "E01");
    CHECK(b.machine.harts[0]->pc == fake_hart::program);
}

TEST_CASE("memory is read and written") {
    bench b;
    CHECK(b.ask("m80000000,4") == "13000000");
    CHECK(b.ask("M80002000,3:010203") == "OK");
    CHECK(b.machine.memory.substr(0x2000, 3) == "\x01\x02\x03");
    CHECK(b.ask(std::string("X80002000,4:") + std::string("\0}#$", 4)) == "OK");
    CHECK(b.ask("m80002000,4") == "007d2324");
    CHECK(b.ask("x80002000,4") == std::string("b\0}#$", 5));
    CHECK(b.ask("X80002000,0:") == "OK");
    CHECK(b.ask("m8000fffe,10") == "0000");  // up to the end of memory
    CHECK(b.ask("m80000000,ffffffffffffffff").size() <= gdb::packet_parser::max_payload);
}

TEST_CASE("memory that is not there, and malformed requests, are errors") {
    bench b;
    for (const char* p :
         {"m0,4", "m80010000,1", "m", "m80000000", "m80000000,", "m,4", "mzz,4", "m80000000,4x", "M80000000,2:00",
          "M80000000,1:zz", "M80000000,1:000", "M0,1:00", "M8000ffff,2:0000", "M80000000,1", "X80000000,2:a",
          "X80000000,1:ab", "X80000000", "Mffffffffffffffff,2:0000", "mffffffffffffffff,2"})
        CHECK(b.ask(p) == "E01");
    CHECK(b.machine.memory.substr(0, 4) == std::string("\x13\0\0\0", 4));
}

TEST_CASE("breakpoints stop the thread that runs into them") {
    bench b;
    b.negotiate();
    CHECK(b.ask("Z0,80000010,4") == "OK");
    CHECK(b.ask("Z0,80000010,4") == "OK");
    CHECK(b.machine.harts[1]->breakpoints.size() == 1);
    b.machine.harts[1]->pc += 4;
    CHECK(b.ask("vCont;c") == "(none)");
    CHECK(b.go(2) == "(none)");
    const auto stop = b.go();
    CHECK(contains(stop, "T05swbreak:;"));
    CHECK(contains(stop, "20:1000008000000000;"));
    CHECK(contains(stop, "thread:p1.2;"));
    CHECK(b.machine.harts[0]->halted());
    CHECK(b.ask("?") == stop);
    CHECK(b.ask("z0,80000010,4") == "OK");
    CHECK(b.ask("z0,80000010,4") == "OK");
    CHECK(b.machine.harts[0]->breakpoints.empty());
    CHECK(b.ask("Z1,80000018,4") == "OK");
    CHECK(b.ask("vCont;c") == "(none)");
    CHECK(contains(b.go(), "T05hwbreak:;"));
    for (const char* p : {"Z0", "Z0,", "Z0,80000000", "Z0,80000000,", "Z0,zz,4", "Z0,80000000,4;X1,0", "Z2,80000000,0",
                          "Z2,ffffffffffffffff,2", "Z2,80000000,ffffffff"})
        CHECK(b.ask(p) == "E01");
    CHECK(b.ask("Z5,80000000,4") == "");
}

TEST_CASE("a debugger that does not know swbreak gets a plain trap") {
    bench b(1);
    b.ask("Z0,80000010,4");
    b.ask("c");
    CHECK(b.go().substr(0, 6) == "T0502:");
}

TEST_CASE("the table of breakpoints is bounded") {
    bench b(1);
    unsigned taken = 0;
    while (taken < 10000 && b.ask("Z0," + gdb::hex_number(0x80000000 + 4 * taken) + ",4") == "OK") ++taken;
    CHECK(taken == gdb::breakpoint_table::max_entries);
}

TEST_CASE("watchpoints report the address that was touched") {
    bench b;
    const auto [type, word] =
        GENERATE(table<const char*, const char*>({{"2", "watch"}, {"3", "rwatch"}, {"4", "awatch"}}));
    CHECK(b.ask(std::string("Z") + type + ",80000ff8,10") == "OK");
    b.ask("vCont;c");
    CHECK(contains(b.go(), std::string("T05") + word + ":80001000;"));
    CHECK(b.ask(std::string("z") + type + ",80000ff8,10") == "OK");
    CHECK(b.machine.harts[0]->watchpoints.empty());
}

TEST_CASE("threads step alone or while others run") {
    bench b;
    b.negotiate();
    auto &first = *b.machine.harts[0], &second = *b.machine.harts[1];
    SECTION("one steps, the other stays") {
        b.ask("vCont;s:p1.2");
        CHECK(contains(b.go(), "thread:p1.2;"));
        CHECK(first.x[5] == 0);
        CHECK(second.x[5] == 1);
    }
    SECTION("one steps, the other goes on") {
        b.ask("vCont;s:p1.2;c");
        CHECK(contains(b.go(), "thread:p1.2;"));
        CHECK(first.x[5] == 1);
        CHECK(second.x[5] == 1);
    }
    SECTION("all of the process") {
        b.ask("vCont;c:p1.-1");
        CHECK(b.go(50) == "(none)");
        CHECK(first.x[5] == 50);
        CHECK(second.x[5] == 50);
    }
    SECTION("the leftmost action counts; t keeps a thread where it is") {
        b.ask("vCont;t:p1.1;C05:p1.2;s");
        CHECK(b.go(10) == "(none)");
        CHECK(first.x[5] == 0);
        CHECK(second.x[5] == 10);
    }
    SECTION("no hart may run") { CHECK(b.ask("vCont;t").substr(0, 3) == "T02"); }
    SECTION("malformed") {
        for (const char* p : {"vCont", "vCont;", "vCont;x", "vCont;c:", "vCont;c:p9.1", "vCont;c:p1.7", "vCont;C",
                              "vCont;s:p1.1;", "vCont;cc", "vCont;c:p1.1x"}) {
            const auto answer = b.ask(p);
            CHECK((answer == "E01" || answer == ""));
            CHECK_FALSE(b.run.running());
        }
    }
}

TEST_CASE("the older resume packets") {
    bench b;
    auto &first = *b.machine.harts[0], &second = *b.machine.harts[1];
    SECTION("s steps the selected thread, others run") {
        b.ask("Hg2");
        b.ask("s");
        CHECK(contains(b.go(), "thread:2;"));
        CHECK(second.x[5] == 1);
        CHECK(first.x[5] == 1);
    }
    SECTION("Hc picks one thread") {
        b.ask("Hc2");
        b.ask("s");
        CHECK(contains(b.go(), "thread:2;"));
        CHECK(first.x[5] == 0);
    }
    SECTION("with address and signal") {
        b.ask("S05;80000008");
        CHECK(contains(b.go(), "20:0c00008000000000;"));
        b.ask("c80000000");
        b.go(1);
        CHECK(first.pc == fake_hart::program + 4);
    }
    SECTION("malformed") {
        for (const char* p : {"czz", "s80000000x", "C", "Szz", "C05;", "S05;zz"}) {
            CHECK(b.ask(p) == "E01");
            CHECK_FALSE(b.run.running());
        }
    }
}

TEST_CASE("an interrupt stops every hart") {
    bench b;
    b.session->interrupt();  // while stopped: nothing happens
    b.session->report_stop();
    CHECK(b.replies.empty());
    b.ask("vCont;c");
    b.go(10);
    SECTION("by the interrupt byte") { b.session->interrupt(); }
    SECTION("by packet") { CHECK(b.ask("vCtrlC").substr(0, 3) == "T02"); }
    b.session->report_stop();
    CHECK(b.replies.back().substr(0, 3) == "T02");
    CHECK(b.machine.harts[0]->halted());
    CHECK(b.machine.harts[1]->halted());
}

TEST_CASE("while the machine runs, only questions are answered") {
    bench b;
    b.ask("vCont;c");
    for (const char* p : {"g", "m80000000,4", "M80000000,1:00", "Z0,80000000,4", "vCont;s", "c", "?"})
        CHECK(b.ask(p) == "E01");
    CHECK(b.ask("qC") == "QC1");
    CHECK(b.run.running());
}

TEST_CASE("two harts at a breakpoint in the same moment are reported one after the other") {
    bench b;
    b.negotiate();
    b.ask("Z0,80000010,4");
    b.ask("vCont;c");
    CHECK(contains(b.go(), "thread:p1.1;"));
    SECTION("when all go on") {
        // What GDB does: step the reported thread over its breakpoint, then let all run.
        b.ask("z0,80000010,4");
        b.ask("vCont;s:p1.1");
        CHECK(contains(b.go(), "thread:p1.1;"));
        b.ask("Z0,80000010,4");
        CHECK(contains(b.ask("vCont;c"), "thread:p1.2;"));
        CHECK(b.machine.harts[0]->pc == 0x80000014);
    }
    SECTION("unless the breakpoint is gone") {
        b.ask("z0,80000010,4");
        CHECK(b.ask("vCont;c") == "(none)");
        CHECK(b.go(3) == "(none)");
    }
}

TEST_CASE("a thread that is resumed on a breakpoint stops at it") {
    bench b;
    b.negotiate();
    b.machine.harts[1]->pc = 0x80000010;
    b.ask("Z1,80000010,4");
    SECTION("if it is to run") {
        const auto stop = b.ask("vCont;c");
        CHECK(contains(stop, "hwbreak:;"));
        CHECK(contains(stop, "thread:p1.2;"));
        CHECK(b.machine.harts[0]->x[5] == 0);
    }
    SECTION("but not if it is to step or to stay") {
        CHECK(b.ask("vCont;s:p1.2") == "(none)");
        CHECK(contains(b.go(), "20:1400008000000000;"));
        CHECK(b.ask("vCont;c:p1.1") == "(none)");
    }
}

TEST_CASE("harts are in lockstep while a debugger is attached, if there are several") {
    bench many(2), one(1);
    CHECK(many.machine.harts[0]->lockstep);
    CHECK(many.machine.harts[1]->lockstep);
    CHECK_FALSE(one.machine.harts[0]->lockstep);
    many.ask("D");
    CHECK_FALSE(many.machine.harts[0]->lockstep);
}

TEST_CASE("detaching leaves nothing behind") {
    bench b;
    b.negotiate();
    b.ask("Z0,80000010,4");
    b.ask("Z2,80001000,4");
    SECTION("detach") {
        CHECK(b.ask("D;2") == "E01");
        CHECK(b.ask("D;1") == "OK");
        CHECK(b.session->over());
    }
    SECTION("kill") {
        CHECK(b.ask("k") == "(none)");
        CHECK(b.machine.killed);
        CHECK(b.session->over());
    }
    SECTION("kill by process") {
        CHECK(b.ask("vKill;7") == "E01");
        CHECK(b.ask("vKill;1") == "OK");
        CHECK(b.machine.killed);
    }
    CHECK(b.machine.clean());
}

TEST_CASE("in extended mode a process is detached and attached again") {
    bench b;
    b.negotiate();
    CHECK(b.ask("vAttach;1") == "E01");
    CHECK(b.ask("!") == "OK");
    CHECK(b.ask("D;1") == "OK");
    CHECK_FALSE(b.session->over());
    CHECK(b.machine.clean());
    CHECK(b.ask("?") == "W00");
    CHECK(b.ask("qfThreadInfo") == "l");
    for (const char* p : {"g", "m80000000,4", "Z0,80000000,4", "vCont;c", "c", "D;1"}) CHECK(b.ask(p) == "E01");
    b.machine.run(8);
    CHECK(b.ask("vAttach;2") == "E01");
    CHECK(b.ask("vAttach;1").substr(0, 3) == "T05");
    CHECK(b.machine.harts[0]->halted());
    CHECK(b.ask("qfThreadInfo") == "mp1.1,p1.2");
}

TEST_CASE("the end of the process is reported to a debugger that waits") {
    bench b;
    b.negotiate();
    b.ask("vCont;c");
    b.session->report_exit(3);
    CHECK(b.replies.back() == "W03;process:1");
    CHECK(b.session->over());
}

TEST_CASE("a failure whose low byte is 0 is no success to a debugger") {
    bench b;
    b.negotiate();
    b.ask("vCont;c");
    b.session->report_exit(256);
    CHECK(b.replies.back() == "Wff;process:1");
}

TEST_CASE("descriptions are transferred in pieces") {
    bench b;
    std::string whole, part;
    unsigned offset = 0;
    do {
        part = b.ask("qXfer:features:read:target.xml:" + gdb::hex_number(offset) + ",100");
        REQUIRE((part.front() == 'm' || part.front() == 'l'));
        whole += part.substr(1);
        offset = static_cast<unsigned>(whole.size());
    } while (part.front() == 'm');
    for (const char* text :
         {"org.gnu.gdb.riscv.cpu", "org.gnu.gdb.riscv.fpu", "org.gnu.gdb.riscv.csr", "org.gnu.gdb.riscv.virtual",
          "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\" regnum=\"32\"/>",
          "<reg name=\"mstatus\" bitsize=\"64\" type=\"int\" regnum=\"833\"/>",
          "<reg name=\"fcsr\" bitsize=\"32\" type=\"int\" regnum=\"68\"/>",
          "<reg name=\"priv\" bitsize=\"64\" type=\"int\" regnum=\"4161\"/>", "</target>"})
        CHECK(contains(whole, text));
    CHECK_FALSE(contains(whole, "mtvec"));  // the fake hart has none
    CHECK(b.ask("qXfer:features:read:target.xml:ffffff,100") == "E01");
    CHECK(b.ask("qXfer:features:read:other.xml:0,100") == "E00");
    CHECK(b.ask("qXfer:features:read:target.xml:0") == "E01");
    CHECK(b.ask("qXfer:auxv:read::0,100") == "");

    const auto map = b.ask("qXfer:memory-map:read::0,1000");
    CHECK(contains(map, "<memory type=\"rom\" start=\"0x1000\" length=\"0x1000\"/>"));
    CHECK(contains(map, "<memory type=\"ram\" start=\"0x80000000\" length=\"0x10000\"/>"));
    b.machine.harts[0]->csrs[0x180] = std::uint64_t{8} << 60;
    CHECK_FALSE(contains(b.ask("qXfer:memory-map:read::0,1000"), "<memory "));
}

TEST_CASE("monitor commands") {
    bench b;
    CHECK(contains(b.monitor("help"), "monitor stats"));
    CHECK(contains(b.monitor("stats"), "node0.host.uart0.bytes"));
    CHECK_FALSE(contains(b.monitor("stats node0.host.hart0"), "uart0"));
    CHECK(contains(b.monitor("stats node0.host.hart0"), "42"));
    CHECK(contains(b.monitor("stats nowhere"), "no statistic"));
    b.monitor("stats reset");
    CHECK(b.machine.statistics_restarts == 1);
    CHECK(contains(b.monitor("trace on my.trace"), "my.trace"));
    CHECK(b.machine.trace == "my.trace");
    b.monitor("trace off");
    CHECK(b.machine.trace.empty());
    CHECK(b.monitor("time") == "0.000001500000 s\n");
    CHECK(contains(b.monitor("reset"), "reset"));
    CHECK(b.machine.resets == 1);
    CHECK(b.machine.harts[0]->halted());
    CHECK(contains(b.monitor("sing"), "not a monitor command"));
    CHECK(contains(b.monitor("trace"), "usage"));
    CHECK(b.ask("qRcmd,zz") == "E01");
    CHECK(b.ask("qRcmd") == "E01");
    b.hooks.start_trace = [](const std::string&) -> std::string { throw std::runtime_error("cannot write there"); };
    CHECK(contains(b.monitor("trace on x"), "cannot write there"));
    b.hooks = {};
    for (const char* c : {"stats", "stats reset", "trace on", "trace off", "time", "reset"})
        CHECK(contains(b.monitor(c), "not supported"));
}

TEST_CASE("long output of a monitor command is cut into packets") {
    bench b;
    b.hooks.statistics = [](const std::string&) {
        statistics_snapshot many;
        for (int n = 0; n < 1000; ++n) many.emplace("node0.counter" + std::to_string(n), n);
        return many;
    };
    const auto text = b.monitor("stats");
    CHECK(b.replies.size() > 3);
    for (const auto& r : b.replies) CHECK(r.size() <= gdb::packet_parser::max_payload);
    CHECK(std::count(text.begin(), text.end(), '\n') == 1000);
}
