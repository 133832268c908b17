// SPDX-License-Identifier: Apache-2.0
// The programming interface of copy engines (abi/copy_engine.h): DMA channels with a ring of descriptors in memory,
// doorbells, interrupt causes. This is what all of them have in common, whatever they copy and whatever they are
// plugged into: descriptors are fetched in order, performed by the engine one after the other, and told their status.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "abi/copy_engine.h"
#include "base/buffer.h"
#include "base/registers.h"

namespace fabricvp {

/// The engine behind the channels.
class copy_engine_core {
public:
    /// Reads descriptors; fetched() with the same ticket ends it, inside this call or later.
    virtual void fetch(std::size_t channel, std::uint64_t address, const buffer_slice& into, std::uint32_t ticket) = 0;
    /// Performs a descriptor; finished() ends it, inside this call or later.
    virtual void perform(std::size_t channel, const copy_engine_descriptor& d) = 0;
    /// Writes a status behind what the descriptor wrote; stored() with the same ticket ends it, inside this call or
    /// later.
    virtual void store(std::size_t channel, std::uint64_t address, const buffer_slice& status,
                       std::uint32_t ticket) = 0;
    /// Forgets what the channel performs.
    virtual void abandon(std::size_t channel) = 0;
    /// The channel has stopped: its ring is wrong, or a descriptor could not be fetched.
    virtual void stopped(std::size_t channel) = 0;
    virtual void interrupt_line(bool level) = 0;
    /// \param vector COPY_ENGINE_VECTOR_DONE or _ERROR
    virtual void interrupt_message(std::size_t channel, unsigned vector) = 0;

protected:
    ~copy_engine_core() = default;
};

class copy_channels {
public:
    /// \param count channels \param fetches descriptors that are fetched at a time
    copy_channels(register_bank& registers, std::size_t count, std::size_t fetches, copy_engine_core& core);

    device_register channels, pending;
    // One a channel:
    device_register control, status, ring_base, ring_size, doorbell, completed, interrupt;

    void fetched(std::size_t channel, std::uint32_t ticket, bool ok);
    /// \param code what the descriptor's status becomes; COPY_ENGINE_DONE or an error
    void finished(std::size_t channel, std::uint32_t code);
    void stored(std::size_t channel, std::uint32_t ticket);

    void reset();

private:
    struct channel {
        std::uint32_t epoch = 0;  // what was asked for before a reset is forgotten
        std::uint64_t base = 0;   // of the ring, as of the last fetch
        std::uint32_t size = 0;
        bool fetching = false, performing = false;
        buffer_slice fetched;  // being fetched
        std::deque<copy_engine_descriptor> ready;
        copy_engine_descriptor present{};
        std::uint32_t consumed = 0, performed = 0;  // descriptors ever
        struct outcome {
            bool error, wanted;  // an interrupt
        };
        std::deque<outcome> stores;
    };

    void kick(std::size_t c);
    bool ring_is_good(std::size_t c) const;
    void fetch(std::size_t c);
    void fail(std::size_t c);
    void notify(std::size_t c, unsigned vector);
    void update_line();
    void reset_channel(std::size_t c);

    copy_engine_core& m_core;
    const std::size_t m_fetches;
    std::vector<channel> m_channels;
};

}  // namespace fabricvp
