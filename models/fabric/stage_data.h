// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <boost/container/small_vector.hpp>

#include "base/pool.h"
#include "fabric/packet.h"

namespace fabricvp::fabric {

using packet_list = boost::container::small_vector<packet_ptr, 17>;

/// What a stage sends over a link in the place of packets (packet::carried): it goes as one packet, which counts as
/// one for timing, errors and replays. Its packets have taken their credits, and each frees its own.
class stage_data {
public:
    std::uint16_t used = 0;   ///< bytes without padding
    std::uint16_t flits = 0;  ///< on the link

    virtual void release() = 0;
    /// Calls `f` with each packet that is complete once this has arrived.
    virtual void visit(void (*f)(void* context, packet& each), void* context) = 0;
    /// Flips bits of a byte where it is bytes. \returns false if it is not: it then arrives poisoned
    virtual bool flip(std::size_t /*byte*/, std::uint8_t /*bits*/) { return false; }

protected:
    ~stage_data() = default;
};

/// \tparam T the class derived from this one; it has recycle(), as all that is pooled
template <class T>
class pooled_stage_data : public stage_data, public pooled<T> {
public:
    void release() final { intrusive_ptr_release(static_cast<T*>(this)); }
};

/// Calls `f` with each packet that goes over a link as, or is complete with, `p`.
template <class F>
void for_each_packet(packet& p, F f) {
    if (!p.carried) return f(p);
    p.carried->visit([](void* context, packet& each) { (*static_cast<F*>(context))(each); }, &f);
}

/// Packets that go over a link as one and come out of it as they went in: the port at the far end takes them out where
/// no ingress stage does.
class packet_bundle final : public pooled_stage_data<packet_bundle> {
public:
    packet_list packets;

    void visit(void (*f)(void* context, packet& each), void* context) override {
        for (const auto& p : packets) f(context, *p);
    }
    void recycle() { packets.clear(); }
};

class port;

/// Puts packets for one destination and channel together, `bytes` long on the wire, and takes their credits of `out`,
/// which must have them. \returns what next() of an egress stage may give to the link
packet_ptr make_bundle(port& out, packet_list packets, std::uint32_t bytes);

}  // namespace fabricvp::fabric
