// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/calendar.h"
#include "base/fault.h"
#include "platform/machine.h"
#include "platform/platform.h"

namespace fabricvp {

/// The faults that are to happen in a machine, each at its time.
class fault_plan {
public:
    /// \param lookahead time in which one node learns of a mark of another at the earliest
    explicit fault_plan(machine& hardware, ticks lookahead = 0) : m_hardware(hardware), m_lookahead(lookahead) {}

    /// Whether the block of this name is in this process; unless set, all are. To be set before faults are added.
    std::function<bool(const std::string& target)> is_local;
    /// A mark has come here that a fault of another process waits for: it is to happen at `when`.
    std::function<void(std::size_t number, ticks when)> forward;
    /// The same, said by another process.
    void order(std::size_t number, ticks when);

    /// Takes over what the configuration says. \throws input_error naming file, line and key
    void add_configured();
    /// \param target hierarchical name; a model inside of it is found by the kind, where only one has it
    /// \param at absolute simulated time \throws input_error
    void inject(const std::string& target, const std::string& kind, ticks at,
                const std::vector<unparsed_value>& arguments);
    /// Logs faults whose marks have not come.
    void tell_waiting() const;

private:
    struct planned {
        std::unique_ptr<fault_injection> order;
        std::string mark;  ///< happens `after` this label, if not empty
        std::string path;  ///< where the configuration has it ("faults.0")
        std::size_t node = 0;
        ticks after = 0;
        std::size_t number = 0;  ///< among those of the whole machine
        bool waiting = false;
        void happen() { order->apply(); }
        calendar_event event{method<&planned::happen>, this};
    };

    void add(const fault_params& p, const std::string& path, std::size_t node, const std::string& prefix);
    void listen(std::size_t node);
    void marked(std::size_t node, const std::string& label);

    machine& m_hardware;
    const ticks m_lookahead;
    std::vector<std::unique_ptr<planned>> m_planned;
    std::vector<bool> m_listening;  ///< to a node's marker
};

/// Every kind that some block offers, with its arguments.
std::vector<platform::fault_description> describe_faults();

/// What `fabricvp describe --faults` prints: kinds with their arguments, and where each can happen.
std::string fault_listing();

}  // namespace fabricvp
