// SPDX-License-Identifier: Apache-2.0
// The copy engine of a GPU (system DMA): channels that move bytes between memories of GPUs and of the host along rings
// of descriptors (abi/copy_engine.h), as drivers use it for inputs and results. Device memory is reached through L2,
// memory of peers over the fabric, memory of the host by whatever the GPU is attached to.
//
// A descriptor is cut into pieces that lie within one page on either side. Pieces are translated where addresses are
// virtual, read, and written, several at a time; a descriptor has ended when all its bytes have arrived, or those that
// had been begun when a piece failed. Nothing happens while no doorbell is rung.
#pragma once

#include <functional>
#include <vector>

#include "abi/gpu.h"
#include "base/copy_channels.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/slot_table.h"
#include "base/statistics.h"
#include "gpu/memory/gpu_memory_port.h"
#include "gpu/memory/vector_memory.h"

namespace fabricvp::gpu {

struct sdma_engine_params {
    std::uint64_t channels = 2;
    std::uint64_t chunks = 8;
    std::uint64_t fetches = 8;
    gpu_memory_port_params memory{64};
    void describe(parameter_visitor& v);
};

class sdma_engine final : public model, private copy_engine_core, private transfer_client, private translation_client {
public:
    const sdma_engine_params params;

    register_bank registers{GPU_SDMA_REGISTERS_SIZE};
    copy_channels channels;

    counter descriptors{*this, "descriptors", "1", "descriptors performed"};
    counter bytes_copied{*this, "bytes_copied", "B", "bytes copied"};
    counter faults{*this, "faults", "1", "descriptors that failed"};
    counter stops{*this, "stops", "1", "channels that stopped because of their ring"};
    histogram latency{*this, "latency", "ps", "of a descriptor, from the beginning to the last byte's arrival"};

    gpu_memory_port memory;  ///< to memories of GPUs

    /// A channel has got an interrupt cause.
    std::function<void()> on_interrupt;

    /// \param lines takes requests for lines of all GPUs' memories \param system the way to memory of the host
    sdma_engine(const sc_core::sc_module_name& name, const sdma_engine_params& params, const clock_domain& clock,
                line_target& lines, translator& translations, transfer_port& system);

    void reset() override;

private:
    struct channel {
        copy_engine_descriptor work{};
        bool busy = false;
        std::uint64_t begun = 0, done = 0;  // bytes
        unsigned chunks = 0;                // under way
        memory_fault fault = memory_fault::none;
        ticks began = 0;
    };
    struct chunk {
        std::size_t channel = 0;
        bool abandoned = false;                     // its channel has been reset: it only has to come to its end
        std::uint64_t source = 0, destination = 0;  // physical when `untranslated` is 0
        buffer_slice data;
        unsigned untranslated = 0;
        bool reading = true;
        memory_fault fault = memory_fault::none;
    };
    /// What a response is about. Beside it a cookie has a channel, the number of a piece or the ticket of a fetch or
    /// store, and the epoch.
    enum class cookie_kind : std::uint64_t { chunk, source, destination, fetch, store };

    void fetch(std::size_t c, std::uint64_t address, const buffer_slice& into, std::uint32_t ticket) override;
    void perform(std::size_t c, const copy_engine_descriptor& d) override;
    void store(std::size_t c, std::uint64_t address, const buffer_slice& status, std::uint32_t ticket) override;
    void abandon(std::size_t c) override;
    void stopped(std::size_t c) override;
    void interrupt_line(bool) override {}  // the GPU has causes of its own
    void interrupt_message(std::size_t, unsigned) override {
        if (on_interrupt) on_interrupt();
    }
    void transfer_done(std::uint64_t cookie, memory_fault fault) override;
    void translated(std::uint64_t virtual_page, std::uint64_t physical, memory_fault fault,
                    std::uint64_t cookie) override;

    static bool well_formed(const copy_engine_descriptor& d);
    void advance(std::size_t c);
    void begin_chunk(std::size_t c, std::uint64_t bytes);
    void translate(std::uint32_t p, cookie_kind side, std::uint64_t address);
    void read_chunk(std::uint32_t p);
    void end_chunk(std::uint32_t p, memory_fault fault);
    void finish(std::size_t c, std::uint32_t fault);
    transfer_port& port_to(std::uint64_t physical) { return where(physical) == GPU_PA_SYSTEM ? m_system : memory; }
    std::uint64_t cookie_of(cookie_kind what, std::size_t channel, std::uint32_t number) const {
        return m_epoch << 40 | std::uint64_t{number} << 8 | channel << 3 | static_cast<std::uint64_t>(what);
    }

    translator& m_translations;
    transfer_port& m_system;
    std::vector<channel> m_channels;
    slot_table<chunk> m_chunks;  // of all channels
    std::uint64_t m_epoch = 0;   // answers to what a reset has dropped are recognised by it; 24 bits
};

}  // namespace fabricvp::gpu
