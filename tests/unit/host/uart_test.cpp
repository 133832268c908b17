// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <string>

#include "abi/uart16550.h"
#include "host/uart.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;

namespace {

host::uart_params line_timing() {
    host::uart_params p;
    p.timing = host::uart_timing::line;
    return p;
}

// A quick UART and one with line timing, in one elaboration.
struct uart_benches {
    calendar cal{"calendar"};
    host::uart quick{"quick", host::uart_params{}};
    host::uart slow{"slow", line_timing()};
    test::bus_master master{"master"};
    test::bus_master slow_master{"slow_master"};
    std::string output, slow_output;

    uart_benches() {
        master.socket.bind(quick.bus);
        slow_master.socket.bind(slow.bus);
        quick.on_transmit = [this](char c) { output += c; };
        slow.on_transmit = [this](char c) { slow_output += c; };
        cal.run_until(0);
    }
    test::stopwatch watch;
    void run_for(ticks t) { watch.run_for(t); }
    unsigned iir() { return master.read8(UART_IIR); }
    unsigned lsr() { return master.read8(UART_LSR); }
};

uart_benches& fresh() {
    static uart_benches b;
    // Input left over by the test before is read away: the far end of a line is not reset.
    b.quick.reset();
    b.master.write8(UART_FCR, UART_FCR_ENABLE);
    for (int i = 0; i < 100 && (b.quick.queued_input() || b.lsr() & UART_LSR_DR); ++i) {
        b.run_for(20_us);
        while (b.lsr() & UART_LSR_DR) b.master.read8(UART_RBR);
    }
    REQUIRE(b.quick.queued_input() == 0);
    b.quick.reset();
    b.slow.reset();
    b.output.clear();
    b.slow_output.clear();
    return b;
}

}  // namespace

TEST_CASE("reset values") {
    auto& b = fresh();
    CHECK(b.master.read8(UART_IER) == 0);
    CHECK(b.iir() == UART_IIR_NONE);
    CHECK(b.master.read8(UART_LCR) == 0);
    CHECK(b.master.read8(UART_MCR) == 0);
    CHECK(b.lsr() == (UART_LSR_THRE | UART_LSR_TEMT));
    CHECK(b.master.read8(UART_MSR) == (UART_MSR_CTS | UART_MSR_DSR | UART_MSR_DCD));
    CHECK(b.master.read8(UART_SCR) == 0);
    CHECK_FALSE(b.quick.interrupt.level());
}

TEST_CASE("scratch, reserved bits and the divisor latch") {
    auto& b = fresh();
    b.master.write8(UART_SCR, 0xa5);
    CHECK(b.master.read8(UART_SCR) == 0xa5);
    b.master.write8(UART_IER, 0xf0);
    CHECK(b.master.read8(UART_IER) == 0);
    b.master.write8(UART_MCR, 0xe0);
    CHECK(b.master.read8(UART_MCR) == 0);
    b.master.write8(UART_LCR, UART_LCR_DLAB | UART_LCR_WORD_8);
    b.master.write8(UART_DLL, 0x34);
    b.master.write8(UART_DLM, 0x12);
    CHECK(b.master.read8(UART_DLL) == 0x34);
    CHECK(b.master.read8(UART_DLM) == 0x12);
    b.master.write8(UART_LCR, UART_LCR_WORD_8);
    CHECK(b.master.read8(UART_IER) == 0);
    CHECK(b.output.empty());
    CHECK(b.quick.dll() == 0x34);
}

TEST_CASE("characters leave at once, with the transmitter interrupt") {
    auto& b = fresh();
    b.master.write8(UART_THR, 'H');
    CHECK(b.output == "H");
    CHECK(b.lsr() == (UART_LSR_THRE | UART_LSR_TEMT));
    CHECK_FALSE(b.quick.interrupt.level());
    b.master.write8(UART_IER, UART_IER_ETBEI);
    CHECK(b.quick.interrupt.level());
    CHECK(b.iir() == UART_IIR_THRE);
    CHECK_FALSE(b.quick.interrupt.level());  // reading it acknowledged it
    CHECK(b.iir() == UART_IIR_NONE);
    b.master.write8(UART_THR, 'i');
    CHECK(b.quick.interrupt.level());
    CHECK(b.output == "Hi");
}

TEST_CASE("reception without FIFOs") {
    auto& b = fresh();
    b.master.write8(UART_IER, UART_IER_ERBFI);
    b.quick.push_input('a');
    b.quick.push_input('b');
    b.run_for(10_us);
    CHECK(b.quick.interrupt.level());
    CHECK(b.iir() == UART_IIR_RECEIVED);
    CHECK((b.lsr() & UART_LSR_DR));
    CHECK(b.master.read8(UART_RBR) == 'a');
    CHECK_FALSE((b.lsr() & UART_LSR_DR));
    CHECK_FALSE(b.quick.interrupt.level());
    b.run_for(10_us);  // the line waited for room
    CHECK(b.master.read8(UART_RBR) == 'b');
    CHECK_FALSE((b.lsr() & UART_LSR_OE));
}

TEST_CASE("FIFO trigger level and character timeout") {
    auto& b = fresh();
    b.master.write8(UART_FCR, UART_FCR_ENABLE | 0x80);  // trigger at 8
    b.master.write8(UART_IER, UART_IER_ERBFI);
    CHECK(b.iir() == (UART_IIR_FIFOS | UART_IIR_NONE));
    for (char c : std::string("0123456")) b.quick.push_input(c);
    b.run_for(7_us);
    CHECK_FALSE(b.quick.interrupt.level());
    b.run_for(3_us);
    CHECK_FALSE(b.quick.interrupt.level());
    b.run_for(2_us);  // four character times after the last one
    CHECK(b.quick.interrupt.level());
    CHECK(b.iir() == (UART_IIR_FIFOS | UART_IIR_TIMEOUT));
    CHECK(b.master.read8(UART_RBR) == '0');
    CHECK_FALSE(b.quick.interrupt.level());
    b.quick.push_input('7');
    b.quick.push_input('8');
    b.run_for(2_us);
    CHECK(b.iir() == (UART_IIR_FIFOS | UART_IIR_RECEIVED));
    CHECK(b.master.read8(UART_RBR) == '1');
    CHECK(b.iir() == (UART_IIR_FIFOS | UART_IIR_NONE));
}

TEST_CASE("the line never overruns the FIFO, and FCR empties it") {
    auto& b = fresh();
    b.master.write8(UART_FCR, UART_FCR_ENABLE);
    for (int i = 0; i < 40; ++i) b.quick.push_input(static_cast<char>('A' + i % 26));
    b.run_for(1_ms);
    CHECK(b.quick.queued_input() == 24);
    CHECK_FALSE((b.lsr() & UART_LSR_OE));
    b.master.write8(UART_FCR, UART_FCR_ENABLE | UART_FCR_RECEIVER_RESET);
    CHECK_FALSE((b.lsr() & UART_LSR_DR));
    b.run_for(1_ms);
    CHECK(b.master.read8(UART_RBR) == 'A' + 16);
}

TEST_CASE("loopback carries data and modem lines, and overruns") {
    auto& b = fresh();
    b.master.write8(UART_FCR, UART_FCR_ENABLE);
    b.master.write8(UART_MCR, UART_MCR_LOOP);
    CHECK(b.master.read8(UART_MSR) == (UART_MSR_DCTS | UART_MSR_DDSR | UART_MSR_DDCD));
    CHECK(b.master.read8(UART_MSR) == 0);  // deltas clear on reading
    b.master.write8(UART_MCR, UART_MCR_LOOP | UART_MCR_DTR | UART_MCR_RTS | UART_MCR_OUT1 | UART_MCR_OUT2);
    CHECK(b.master.read8(UART_MSR) ==
          (UART_MSR_DCTS | UART_MSR_DDSR | UART_MSR_DDCD | UART_MSR_CTS | UART_MSR_DSR | UART_MSR_RI | UART_MSR_DCD));
    b.master.write8(UART_MCR, UART_MCR_LOOP);
    CHECK((b.master.read8(UART_MSR) & UART_MSR_TERI));

    b.master.write8(UART_IER, UART_IER_ELSI);
    for (int i = 0; i < 16; ++i) b.master.write8(UART_THR, static_cast<std::uint8_t>('a' + i));
    CHECK(b.output.empty());
    CHECK_FALSE(b.quick.interrupt.level());
    b.master.write8(UART_THR, 'z');
    CHECK(b.quick.interrupt.level());
    CHECK(b.iir() == (UART_IIR_FIFOS | UART_IIR_LINE));
    CHECK((b.lsr() & UART_LSR_OE));
    CHECK_FALSE((b.lsr() & UART_LSR_OE));
    CHECK_FALSE(b.quick.interrupt.level());
    CHECK(b.master.read8(UART_RBR) == 'a');
    b.master.write8(UART_FCR, UART_FCR_ENABLE | UART_FCR_RECEIVER_RESET);
}

TEST_CASE("modem status interrupt") {
    auto& b = fresh();
    b.master.write8(UART_IER, UART_IER_EDSSI);
    CHECK_FALSE(b.quick.interrupt.level());
    b.master.write8(UART_MCR, UART_MCR_LOOP);
    CHECK(b.quick.interrupt.level());
    CHECK(b.iir() == UART_IIR_MODEM);
    b.master.read8(UART_MSR);
    CHECK_FALSE(b.quick.interrupt.level());
}

TEST_CASE("line timing follows divisor and frame") {
    auto& b = fresh();
    auto& m = b.slow_master;
    m.write8(UART_LCR, UART_LCR_DLAB | UART_LCR_WORD_8);
    m.write8(UART_DLL, 2);  // 3.6864 MHz / 16 / 2 = 115200 baud
    m.write8(UART_DLM, 0);
    m.write8(UART_LCR, UART_LCR_WORD_8);
    m.write8(UART_FCR, UART_FCR_ENABLE);
    m.write8(UART_IER, UART_IER_ETBEI);
    CHECK(m.read8(UART_IIR) == (UART_IIR_FIFOS | UART_IIR_THRE));
    const auto start = b.cal.now();
    const ticks character = 10 * 16 * 2 * ticks_per_second / 3'686'400;
    m.write8(UART_THR, 'x');
    m.write8(UART_THR, 'y');
    CHECK((m.read8(UART_LSR) & (UART_LSR_THRE | UART_LSR_TEMT)) == 0);
    b.watch.run_until(start + character - 1);
    CHECK(b.slow_output.empty());
    CHECK_FALSE(b.slow.interrupt.level());
    b.watch.run_until(start + character);
    CHECK(b.slow_output == "x");
    CHECK(b.slow.interrupt.level());  // FIFO empty, shift register busy
    CHECK((m.read8(UART_LSR) & (UART_LSR_THRE | UART_LSR_TEMT)) == UART_LSR_THRE);
    b.watch.run_until(start + 2 * character);
    CHECK(b.slow_output == "xy");
    CHECK((m.read8(UART_LSR) & UART_LSR_TEMT));

    SECTION("parity and a second stop bit take their time") {
        m.write8(UART_LCR, UART_LCR_WORD_8 | UART_LCR_STOP | UART_LCR_PARITY);
        const auto from = b.cal.now();
        m.write8(UART_THR, '!');
        b.watch.run_until(from + character * 12 / 10 - 2);
        CHECK(b.slow_output == "xy");
        b.run_for(4);
        CHECK(b.slow_output == "xy!");
    }
    SECTION("input arrives at the same rate") {
        const auto from = b.cal.now();
        b.slow.push_input('q');
        b.watch.run_until(from + character - 1);
        CHECK_FALSE((m.read8(UART_LSR) & UART_LSR_DR));
        b.run_for(1);
        CHECK(m.read8(UART_RBR) == 'q');
    }
}

TEST_CASE("a debugger reads without effect") {
    auto& b = fresh();
    b.quick.push_input('d');
    b.run_for(5_us);
    std::uint8_t seen = 0;
    CHECK(b.master.debug(tlm::TLM_READ_COMMAND, UART_RBR, &seen, 1) == 1);
    CHECK(seen == 'd');
    CHECK((b.lsr() & UART_LSR_DR));
    CHECK(b.master.read8(UART_RBR) == 'd');
}

TEST_CASE("reset") {
    auto& b = fresh();
    b.master.write8(UART_LCR, UART_LCR_DLAB);
    b.master.write8(UART_DLL, 99);
    b.master.write8(UART_LCR, 0x1f);
    b.master.write8(UART_IER, UART_IER_ETBEI);
    CHECK(b.quick.interrupt.level());
    b.quick.reset();
    CHECK_FALSE(b.quick.interrupt.level());
    CHECK(b.master.read8(UART_LCR) == 0);
    CHECK(b.quick.dll() == 12);
}
