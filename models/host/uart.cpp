// SPDX-License-Identifier: Apache-2.0
#include "host/uart.h"

#include <algorithm>

#include "abi/memory_map.h"
#include "abi/uart16550.h"

namespace fabricvp::host {

namespace {
constexpr ticks quick_character = 1'000'000;
constexpr unsigned clocks_a_bit = 16;
constexpr unsigned line_errors = UART_LSR_OE | UART_LSR_PE | UART_LSR_FE | UART_LSR_BI;
}  // namespace

void uart_params::describe(parameter_visitor& v) {
    v.field("clock", clock, between{1e3, 1e9}, "input clock of the baud-rate generator");
    v.choice("timing", timing,
             "quick: characters leave at once and arrive one a microsecond; line: by divisor and frame");
}

device_tree_node uart::tree_node_of(frequency clock) {
    return {"serial", {"ns16550a"}, {{"clock-frequency", {static_cast<std::uint32_t>(clock.hertz)}}}};
}

uart::uart(const sc_core::sc_module_name& name, const uart_params& p)
    : host_device(name, VIRT_UART_SIZE),
      params(p),
      rbr_thr(registers, "rbr_thr", UART_RBR, 1, 0),
      ier(registers, "ier", UART_IER, 1, 0,
          {{"ERBFI", 0, 1, field_access::read_write, "received data available, character timeout"},
           {"ETBEI", 1, 1, field_access::read_write, "transmitter holding register empty"},
           {"ELSI", 2, 1, field_access::read_write, "receiver line status"},
           {"EDSSI", 3, 1, field_access::read_write, "modem status"},
           {"reserved", 4, 4, field_access::reserved, ""}}),
      iir_fcr(registers, "iir_fcr", UART_IIR, 1, UART_IIR_NONE),
      lcr(registers, "lcr", UART_LCR, 1, 0,
          {{"WLS", 0, 2, field_access::read_write, "word length: 5 + WLS bits"},
           {"STB", 2, 1, field_access::read_write, "two stop bits"},
           {"PEN", 3, 1, field_access::read_write, "parity enable"},
           {"EPS", 4, 1, field_access::read_write, "even parity"},
           {"SP", 5, 1, field_access::read_write, "stick parity"},
           {"BC", 6, 1, field_access::read_write, "break control"},
           {"DLAB", 7, 1, field_access::read_write, "divisor latch access"}}),
      mcr(registers, "mcr", UART_MCR, 1, 0,
          {{"DTR", 0, 1, field_access::read_write, "data terminal ready"},
           {"RTS", 1, 1, field_access::read_write, "request to send"},
           {"OUT1", 2, 1, field_access::read_write, ""},
           {"OUT2", 3, 1, field_access::read_write, ""},
           {"LOOP", 4, 1, field_access::read_write, "loopback: the transmitter feeds the receiver"},
           {"reserved", 5, 3, field_access::reserved, ""}}),
      lsr(registers, "lsr", UART_LSR, 1, UART_LSR_THRE | UART_LSR_TEMT,
          {{"DR", 0, 1, field_access::read_only, "data ready"},
           {"OE", 1, 1, field_access::read_only, "overrun error; cleared by reading"},
           {"PE", 2, 1, field_access::read_only, "parity error"},
           {"FE", 3, 1, field_access::read_only, "framing error"},
           {"BI", 4, 1, field_access::read_only, "break interrupt"},
           {"THRE", 5, 1, field_access::read_only, "transmitter holding register (FIFO) empty"},
           {"TEMT", 6, 1, field_access::read_only, "transmitter empty"},
           {"FIFOE", 7, 1, field_access::read_only, "error in receiver FIFO"}}),
      msr(registers, "msr", UART_MSR, 1, UART_MSR_CTS | UART_MSR_DSR | UART_MSR_DCD,
          {{"DCTS", 0, 1, field_access::read_only, "CTS changed; cleared by reading"},
           {"DDSR", 1, 1, field_access::read_only, "DSR changed"},
           {"TERI", 2, 1, field_access::read_only, "RI ended"},
           {"DDCD", 3, 1, field_access::read_only, "DCD changed"},
           {"CTS", 4, 1, field_access::read_only, "clear to send"},
           {"DSR", 5, 1, field_access::read_only, "data set ready"},
           {"RI", 6, 1, field_access::read_only, "ring indicator"},
           {"DCD", 7, 1, field_access::read_only, "data carrier detect"}}),
      scr(registers, "scr", UART_SCR, 1, 0),
      divisor_latch(2),
      // After power-on the latch holds what 9600 baud take at 1.8432 MHz, as PCs leave it.
      dll(divisor_latch, "dll", UART_DLL, 1, 12),
      dlm(divisor_latch, "dlm", UART_DLM, 1, 0) {
    rbr_thr.on_read([this](std::size_t) { return read_receiver(); });
    rbr_thr.on_write([this](std::size_t, std::uint64_t c) { write_transmitter(static_cast<char>(c & 0xff)); });
    rbr_thr.on_debug_read([this](std::size_t) {
        return m_receiver.empty() ? 0 : std::uint64_t{static_cast<std::uint8_t>(m_receiver.front())};
    });
    ier.on_write([this](std::size_t, std::uint64_t) {
        // Enabling the interrupt while the register is empty raises it (PC16550D, 8.6).
        m_thre_pending = (ier() & UART_IER_ETBEI) && (lsr() & UART_LSR_THRE);
        update();
    });
    iir_fcr.on_read([this](std::size_t) { return read_identification(); });
    iir_fcr.on_write([this](std::size_t, std::uint64_t v) { write_fifo_control(v & 0xff); });
    iir_fcr.on_debug_read(
        [this](std::size_t) { return std::uint64_t{identify()} | (fifos() ? unsigned{UART_IIR_FIFOS} : 0u); });
    mcr.on_write([this](std::size_t, std::uint64_t) { modem_changed(); });
    lsr.on_read([this](std::size_t) { return read_line_status(); });
    msr.on_read([this](std::size_t) { return read_modem_status(); });
}

register_bank& uart::bank_at(std::uint64_t offset) {
    return (lcr() & UART_LCR_DLAB) && offset <= UART_DLM ? divisor_latch : registers;
}

void uart::reset() {
    cancel(m_sent);
    cancel(m_arrival);
    cancel(m_timeout);
    m_fcr = 0;
    m_receiver.clear();
    m_transmitter.clear();
    m_shifting = m_thre_pending = m_timeout_pending = false;
    divisor_latch.reset();
    register_target::reset();
    update();
    schedule_line();  // the far end does not notice our reset
}

std::size_t uart::receiver_depth() const { return fifos() ? UART_FIFO_DEPTH : 1; }

std::size_t uart::trigger_level() const {
    static constexpr std::size_t levels[] = {1, 4, 8, 14};
    return fifos() ? levels[m_fcr >> 6] : 1;
}

ticks uart::character_time() const {
    if (params.timing == uart_timing::quick) return quick_character;
    const auto divisor = std::max<std::uint64_t>(dlm() << 8 | dll(), 1);
    const auto word = 5 + (lcr() & UART_LCR_WORD_8);
    const auto parity = lcr() & UART_LCR_PARITY ? 1u : 0u;
    // Half bits, since five-bit words take one and a half stop bits.
    const auto stop_halves = !(lcr() & UART_LCR_STOP) ? 2u : word == 5 ? 3u : 4u;
    const auto halves = 2 * (1 + word + parity) + stop_halves;
    const auto clocks = static_cast<unsigned __int128>(halves) * clocks_a_bit * divisor;
    return static_cast<ticks>(clocks * ticks_per_second / (2 * params.clock.hertz));
}

std::uint64_t uart::read_receiver() {
    if (m_receiver.empty()) return 0;
    const auto c = static_cast<std::uint8_t>(m_receiver.front());
    m_receiver.pop_front();
    m_timeout_pending = false;
    if (m_receiver.empty()) lsr.set(lsr() & ~std::uint64_t{UART_LSR_DR});
    restart_timeout();
    schedule_line();
    update();
    return c;
}

void uart::write_transmitter(char c) {
    rbr_thr.set(0);
    m_thre_pending = false;
    const std::size_t depth = fifos() ? UART_FIFO_DEPTH : 1;
    if (m_transmitter.size() == depth) m_transmitter.pop_back();  // the last character written wins
    m_transmitter.push_back(c);
    lsr.set(lsr() & ~std::uint64_t{UART_LSR_THRE | UART_LSR_TEMT});
    transmit();
    update();
}

void uart::transmit() {
    while (!m_shifting && !m_transmitter.empty()) {
        m_shift = m_transmitter.front();
        m_transmitter.pop_front();
        m_shifting = true;
        if (m_transmitter.empty()) {
            lsr.set(lsr() | UART_LSR_THRE);
            m_thre_pending = true;
        }
        if (params.timing == uart_timing::line) {
            schedule_in(m_sent, character_time());
            return;
        }
        character_sent();
    }
}

void uart::character_sent() {
    m_shifting = false;
    ++transmitted;
    if (mcr() & UART_MCR_LOOP)
        receive(m_shift);
    else if (on_transmit)
        on_transmit(m_shift);
    if (m_transmitter.empty())
        lsr.set(lsr() | UART_LSR_TEMT);
    else if (params.timing == uart_timing::line)
        transmit();
    update();
}

void uart::push_input(char c) {
    m_line.push_back(c);
    schedule_line();
}

void uart::schedule_line() {
    if (m_line.empty() || m_arrival.scheduled() || m_receiver.size() >= receiver_depth() || (mcr() & UART_MCR_LOOP))
        return;
    schedule_in(m_arrival, character_time());
}

void uart::character_arrived() {
    if (m_line.empty() || m_receiver.size() >= receiver_depth() || (mcr() & UART_MCR_LOOP)) return;
    const char c = m_line.front();
    m_line.pop_front();
    receive(c);
    schedule_line();
}

void uart::receive(char c) {
    ++received;
    if (m_receiver.size() >= receiver_depth()) {
        ++overruns;
        lsr.set(lsr() | UART_LSR_OE);
        if (!fifos()) m_receiver.back() = c;  // a register is overwritten, a FIFO keeps what it has
    } else {
        m_receiver.push_back(c);
    }
    lsr.set(lsr() | UART_LSR_DR);
    restart_timeout();
    update();
}

// Four character times without a read or an arrival while something waits below the trigger level.
void uart::restart_timeout() {
    cancel(m_timeout);
    if (fifos() && !m_receiver.empty()) schedule_in(m_timeout, 4 * character_time());
}

void uart::receiver_timed_out() {
    m_timeout_pending = true;
    update();
}

unsigned uart::identify() const {
    const auto enabled = ier();
    if ((enabled & UART_IER_ELSI) && (lsr() & line_errors)) return UART_IIR_LINE;
    if ((enabled & UART_IER_ERBFI) && m_receiver.size() >= trigger_level()) return UART_IIR_RECEIVED;
    if ((enabled & UART_IER_ERBFI) && m_timeout_pending) return UART_IIR_TIMEOUT;
    if ((enabled & UART_IER_ETBEI) && m_thre_pending) return UART_IIR_THRE;
    if ((enabled & UART_IER_EDSSI) && (msr() & 0x0f)) return UART_IIR_MODEM;
    return UART_IIR_NONE;
}

std::uint64_t uart::read_identification() {
    const auto value = identify();
    if (value == UART_IIR_THRE) m_thre_pending = false;  // reading it as the source is its acknowledgement
    update();
    return value | (fifos() ? unsigned{UART_IIR_FIFOS} : 0u);
}

void uart::write_fifo_control(std::uint64_t value) {
    const bool toggled = (value ^ m_fcr) & UART_FCR_ENABLE;
    if (toggled || (value & UART_FCR_RECEIVER_RESET)) {
        m_receiver.clear();
        m_timeout_pending = false;
        lsr.set(lsr() & ~std::uint64_t{UART_LSR_DR});
    }
    if (toggled || (value & UART_FCR_TRANSMITTER_RESET)) {
        m_transmitter.clear();
        lsr.set(lsr() | UART_LSR_THRE | (m_shifting ? 0 : UART_LSR_TEMT));
        m_thre_pending = true;
    }
    // The other bits count only while FIFOs are enabled (PC16550D, 8.4).
    m_fcr = value & UART_FCR_ENABLE ? static_cast<unsigned>(value & (UART_FCR_ENABLE | UART_FCR_TRIGGER)) : 0;
    restart_timeout();
    schedule_line();
    update();
}

std::uint64_t uart::read_line_status() {
    const auto value = lsr();
    if (!(value & UART_LSR_DR)) ++m_idle_polls;
    lsr.set(value & ~std::uint64_t{line_errors});
    update();
    return value;
}

// The line itself has its far end always ready; in loopback the modem outputs come back as inputs.
unsigned uart::modem_lines() const {
    if (!(mcr() & UART_MCR_LOOP)) return UART_MSR_CTS | UART_MSR_DSR | UART_MSR_DCD;
    return (mcr() & UART_MCR_RTS ? unsigned{UART_MSR_CTS} : 0u) | (mcr() & UART_MCR_DTR ? unsigned{UART_MSR_DSR} : 0u) |
           (mcr() & UART_MCR_OUT1 ? unsigned{UART_MSR_RI} : 0u) | (mcr() & UART_MCR_OUT2 ? unsigned{UART_MSR_DCD} : 0u);
}

void uart::modem_changed() {
    const auto old = static_cast<unsigned>(msr());
    const auto lines = modem_lines();
    const auto changed = (old ^ lines) & 0xf0;
    auto deltas = old & 0x0f;
    deltas |= (changed >> 4) & (UART_MSR_DCTS | UART_MSR_DDSR | UART_MSR_DDCD);
    if ((changed & UART_MSR_RI) && !(lines & UART_MSR_RI)) deltas |= UART_MSR_TERI;
    msr.set(lines | deltas);
    schedule_line();
    update();
}

std::uint64_t uart::read_modem_status() {
    const auto value = msr();
    msr.set(value & 0xf0);
    update();
    return value;
}

void uart::update() { interrupt.drive(identify() != UART_IIR_NONE); }

}  // namespace fabricvp::host
