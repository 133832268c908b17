// SPDX-License-Identifier: Apache-2.0
// The command register (HCR). Software writes seven words; the last begins a command, whose mailbox is fetched by DMA.
// Its end is told by the register itself (GO becomes 0), or by an event. Commands are executed one after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "abi/hca.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/registers.h"
#include "base/statistics.h"
#include "hca/memory/bus_access.h"
#include "hca/queues/event_queues.h"
#include "hca/wiring.h"

namespace fabricvp::hca {

struct command_params {
    std::uint64_t log_in_flight = 4;
    duration latency{1'000'000};
    void describe(parameter_visitor& v);
};

struct command {
    unsigned opcode = 0, modifier = 0;
    bool by_event = false;
    std::uint16_t token = 0;
    std::uint32_t in_modifier = 0;
    std::uint64_t in_param = 0, out_param = 0;  ///< out_param becomes the result of a command with an immediate one
    buffer_slice in, out;                       ///< mailboxes, if it has any
};

/// What executes commands.
class command_executor {
public:
    struct mailbox_sizes {
        bool known = false;
        std::uint32_t in_bytes = 0, out_bytes = 0;
    };
    /// Bytes of a command's mailboxes.
    virtual mailbox_sizes mailbox_sizes_of(const command& c) = 0;
    /// Performs it and calls `finished` with an enum hca_status, inside this call or later.
    virtual void execute(command& c, std::function<void(unsigned)> finished) = 0;

protected:
    ~command_executor() = default;
};

class command_interface final : public model {
public:
    const command_params params;

    /// As software sees them; bytes are swapped on the way, since all of it is big-endian.
    device_register in_param, in_modifier, out_param, token, control;

    counter commands{*this, "commands", "1", "commands executed"};
    counter failed{*this, "failed", "1", "commands that ended with an error"};
    histogram latency{*this, "latency", "ps", "of a command, from GO to the end"};

    command_interface(const sc_core::sc_module_name& name, const command_params& params, register_bank& registers,
                      command_executor& executor, const wiring& w);

    void reset() override;

private:
    void go();
    void begin();
    void execute();
    void finish(unsigned status);

    bus_access& m_bus;
    event_queues& m_eqs;
    command_executor& m_executor;
    struct waiting {
        command c;
        ticks since;
    };
    std::deque<waiting> m_queue;  // the first is being executed
    bool m_busy = false;
    unsigned m_epoch = 0;
    calendar_event m_execute{method<&command_interface::execute>, this};
};

}  // namespace fabricvp::hca
