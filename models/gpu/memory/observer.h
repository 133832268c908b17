// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

/// Sees the accesses of all GPUs and the line requests between them. At most one observer is attached; the blocks call
/// it at the present time:
///
///     if (auto* o = memory_observer::attached()) o->served(packet->source, packet->tag, now());
///
/// An observer tells accesses and requests apart by what it has stored in their `observer_context` and `observer_id`.
/// It must not change anything else.
class memory_observer {
public:
    /// Number of no first-level cache.
    static constexpr unsigned no_cache = ~0u;

    /// Null: none.
    static memory_observer* attached() { return s_attached; }

    // Accesses, which compute units issue (dispatch_observer).
    /// A transaction knows the physical address of its page.
    virtual void translated(unsigned gpu, const vector_access& access, unsigned transaction, std::uint64_t page,
                            ticks now) = 0;
    /// A first-level cache has the line of a transaction.
    virtual void hit(unsigned gpu, unsigned cache, const vector_access& access, unsigned transaction,
                     std::uint64_t line, ticks at) = 0;
    /// A request for a line is about to be sent. \param cache that fetches it, or no_cache
    virtual void requested(unsigned gpu, unsigned cache, const vector_access& access, line_request& request) = 0;
    /// A transaction waits for the request with this observer_id, its own or one that it shares.
    virtual void waits(const vector_access& access, unsigned transaction, std::uint32_t observer_id) = 0;
    /// The data of an access are in registers, or its bytes at their point of coherence, at `ready`.
    virtual void completed(vector_access& access, ticks ready) = 0;

    /// An instruction cache is about to send a request. \param line global virtual address
    virtual void code_requested(unsigned gpu, unsigned cache, std::uint64_t line, line_request& request) = 0;

    // Page-table walks, known by their walkers. These are the `context` of the requests of a walk.
    virtual void walk_started(const void* walker, ticks now) = 0;
    virtual void walk_ended(const void* walker, std::uint64_t page, ticks now) = 0;

    // Requests on the fabric, known by the GPU that sends them and their tag.
    /// \param operand_bytes that go with an atomic
    virtual void sent(unsigned gpu, std::uint32_t tag, const line_request& request, std::uint32_t operand_bytes,
                      ticks now) = 0;
    /// The request has reached the GPU whose memory it is for.
    virtual void arrived(unsigned gpu, std::uint32_t tag, ticks now) = 0;
    /// That GPU sends the response.
    virtual void served(unsigned gpu, std::uint32_t tag, ticks now) = 0;
    /// The response has come back.
    virtual void responded(unsigned gpu, std::uint32_t tag, ticks now) = 0;

protected:
    memory_observer() = default;
    ~memory_observer() { detach(); }
    memory_observer(const memory_observer&) = delete;
    memory_observer& operator=(const memory_observer&) = delete;

    void attach() { s_attached = this; }
    void detach() {
        if (s_attached == this) s_attached = nullptr;
    }

private:
    inline static memory_observer* s_attached = nullptr;
};

}  // namespace fabricvp::gpu
