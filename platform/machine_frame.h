// SPDX-License-Identifier: Apache-2.0
// What there is to see of a machine while it runs, as JSON (run_monitor.h has the format). Reading it changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "gpu/debugging/wavefront_memory.h"
#include "link/channel.h"
#include "platform/machine.h"
#include "platform/watchdog.h"

namespace fabricvp {

class machine_frame {
public:
    /// What a frame reads that is not the machine's own.
    struct sources {
        std::function<const std::string&(std::size_t node)> console;
        std::function<nlohmann::ordered_json(std::size_t node)> state;  ///< of a node, and how it ended
        /// Memory of a node at a physical address as its GPUs have them.
        std::function<bool(std::size_t node, std::uint64_t physical, void* data, std::size_t size, bool write)> memory;
    };

    machine_frame(machine& hardware, const watchdog& guard, sources from);
    ~machine_frame();

    /// What does not change: topology, links, nodes, faults. What other processes have is null or left out.
    nlohmann::ordered_json description();
    /// Adds what does.
    void add_to(nlohmann::ordered_json& frame);
    /// The next frame has what consoles have printed from the beginning.
    void restart_consoles() { m_printed.assign(m_printed.size(), 0); }

private:
    struct direction {
        const link::channel* lanes;
        std::function<std::uint64_t()> queue;
        std::function<bool()> up;
    };
    void find_links(nlohmann::ordered_json& described);
    std::string new_output(std::size_t node);
    nlohmann::ordered_json gpus();
    nlohmann::ordered_json harts() const;
    nlohmann::ordered_json queue_pairs() const;
    nlohmann::ordered_json waits() const;

    struct shown_gpu {
        std::string name;
        gpu::gpu_core* core;
        std::unique_ptr<gpu::wavefront_memory> memory;
    };

    machine& m_hardware;
    const watchdog& m_guard;
    const sources m_from;
    std::vector<direction> m_directions;
    std::vector<shown_gpu> m_gpus;
    std::vector<std::size_t> m_printed;  ///< characters of each console that frames have had
};

}  // namespace fabricvp
