// SPDX-License-Identifier: Apache-2.0
// How the parts of an adapter know each other. A part takes from the wiring what it works with; what it tells parts
// above it goes through `adapter`, so hca_device.cpp shows every way back.
#pragma once

#include <cstdint>

#include "network/packet.h"

namespace fabricvp::hca {

class bus_access;
class icm;
class translation;
class doorbell_records;
class event_queues;
class completion_queues;
class shared_receive_queues;
class queue_pairs;
class management;
class data_mover;
class send_queues;
class receive_queues;
class network_port;
class requester;
class responder;
struct queue_pair;

/// What parts tell the adapter that they belong to, or ask of it.
class adapter {
public:
    /// An event queue raises what its context names: a message, or the pin.
    virtual void interrupt(unsigned number) = 0;
    /// The send queues can take doorbells again.
    virtual void doorbell_room() = 0;
    /// Send WQEs have been decoded, or flushed.
    virtual void wqes_ready(queue_pair& q) = 0;
    /// State or attributes of a queue pair have changed, `before` the state that it had.
    virtual void queue_pair_changed(queue_pair& q, unsigned before) = 0;
    /// A packet has passed the receive pipeline. It keeps the port's buffer until network_port::release().
    virtual void packet_received(const network::packet_ptr& p) = 0;
    /// The port's state has changed, or is about to be shown.
    virtual void update_port_info() = 0;
    /// Bus address of BAR 0.
    virtual std::uint64_t register_base() const = 0;
    /// The firmware begins anew: no context is left.
    virtual void clear_contexts() = 0;

protected:
    ~adapter() = default;
};

/// Parts are not there yet where others are given this: constructors keep references and call nothing.
struct wiring {
    hca::adapter& adapter;
    bus_access& bus;
    hca::icm& icm;
    hca::translation& translation;
    hca::doorbell_records& doorbell_records;
    hca::event_queues& event_queues;
    hca::completion_queues& completion_queues;
    hca::shared_receive_queues& shared_receive_queues;
    hca::queue_pairs& queue_pairs;
    hca::management& management;
    hca::data_mover& data_mover;
    hca::send_queues& send_queues;
    hca::receive_queues& receive_queues;
    network_port& network;
    hca::requester& requester;
    hca::responder& responder;
};

}  // namespace fabricvp::hca
