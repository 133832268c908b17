// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/parameters.h"
#include "base/statistics.h"
#include "host/host_device.h"

namespace fabricvp::host {

/// How long characters take: `quick` sends at once and receives one a microsecond, `line` follows divisor and frame.
enum class uart_timing { quick, line };

struct uart_params {
    frequency clock{3'686'400};
    uart_timing timing = uart_timing::quick;
    void describe(parameter_visitor& v);
};

/// ns16550a UART (National Semiconductor PC16550D). The other end of the line is `on_transmit` and push_input().
class uart final : public host_device {
public:
    const uart_params params;

    device_register rbr_thr;
    device_register ier;
    device_register iir_fcr;
    device_register lcr;
    device_register mcr;
    device_register lsr;
    device_register msr;
    device_register scr;
    register_bank divisor_latch;
    device_register dll;
    device_register dlm;

    /// Called for each character that leaves on the line, inside a calendar callback.
    std::function<void(char)> on_transmit;

    counter transmitted{*this, "transmitted", "1", "characters sent"};
    counter received{*this, "received", "1", "characters received"};
    counter overruns{*this, "overruns", "1", "received characters lost to a full FIFO or register"};

    uart(const sc_core::sc_module_name& name, const uart_params& params);

    /// Puts a character on the line towards the guest. Any number may be queued: the line waits while the receiver is
    /// full, as with a sender that obeys flow control.
    void push_input(char c);
    std::size_t queued_input() const { return m_line.size(); }
    /// How often the guest has looked for input and found none.
    std::uint64_t idle_polls() const { return m_idle_polls; }

    /// What a device tree says of a port with such an input clock.
    static device_tree_node tree_node_of(frequency clock);
    device_tree_node tree_node() const override { return tree_node_of(params.clock); }

    void reset() override;

private:
    register_bank& bank_at(std::uint64_t offset) override;
    bool fifos() const { return m_fcr & 1; }
    std::size_t receiver_depth() const;
    std::size_t trigger_level() const;
    ticks character_time() const;

    std::uint64_t read_receiver();
    void write_transmitter(char c);
    std::uint64_t read_identification();
    void write_fifo_control(std::uint64_t value);
    std::uint64_t read_line_status();
    std::uint64_t read_modem_status();

    void transmit();
    void character_sent();
    void receive(char c);
    void character_arrived();
    void receiver_timed_out();
    void schedule_line();
    void restart_timeout();
    unsigned modem_lines() const;
    void modem_changed();
    unsigned identify() const;
    void update();

    std::uint64_t m_idle_polls = 0;
    unsigned m_fcr = 0;
    std::deque<char> m_line;  // input that the line has not carried yet
    std::deque<char> m_receiver;
    std::deque<char> m_transmitter;  // THR or FIFO, without the shift register
    char m_shift = 0;
    bool m_shifting = false;
    bool m_thre_pending = false;
    bool m_timeout_pending = false;
    calendar_event m_sent{method<&uart::character_sent>, this};
    calendar_event m_arrival{method<&uart::character_arrived>, this};
    calendar_event m_timeout{method<&uart::receiver_timed_out>, this};
};

}  // namespace fabricvp::host

namespace fabricvp {
template <>
struct choice_traits<host::uart_timing> {
    static constexpr std::pair<host::uart_timing, const char*> names[] = {{host::uart_timing::quick, "quick"},
                                                                          {host::uart_timing::line, "line"}};
};
}  // namespace fabricvp
