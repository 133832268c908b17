// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/calendar.h"

namespace fabricvp::link {

/// Packets that arrive at one time are handed over in the order of their links' paths, not of their announcement. So
/// what happens does not depend on who told the receiver when, which would be otherwise if the ends of a link stood in
/// different simulations. (Of one link they come in the order in which they were sent.) Where ends do stand in
/// different simulations, an order is `last`: it comes after all other events of that time but slices of harts, since
/// those that are inserted by what is said at the other end stand nowhere in particular among the events of a time.
/// \tparam Port is an arrival_end<Port, Packet> and has a member deliver(const Packet&) \tparam Packet a pointer
template <class Port, class Packet>
class arrival_order {
public:
    explicit arrival_order(bool last = false) {
        if (last) m_deliver_event.set_rank(calendar::arrival_rank);
    }

    /// \param rank of the receiving port among all, by path \param p null: it is the port's turn to look what has come
    /// but packets
    void enqueue(Port& at, std::uint32_t rank, const Packet& p) {
        m_due.push_back({rank, &at, p});
        if (!m_deliver_event.scheduled()) calendar::current().schedule(m_deliver_event, calendar::current().now());
    }
    void clear() {
        m_due.clear();
        calendar::current().cancel(m_deliver_event);
    }

private:
    struct arrival {
        std::uint32_t rank;
        Port* at;
        Packet packet;
    };
    /// Whatever arrives now was announced before now, so all of it has been noted.
    void hand_over() {
        m_delivering.swap(m_due);
        if (m_delivering.size() > 1)
            std::stable_sort(m_delivering.begin(), m_delivering.end(), [](const arrival& a, const arrival& b) {
                return a.rank != b.rank ? a.rank < b.rank : !a.packet && b.packet;
            });
        for (auto& a : m_delivering) a.at->deliver(a.packet);
        m_delivering.clear();
    }

    std::vector<arrival> m_due, m_delivering;
    calendar_event m_deliver_event{method<&arrival_order::hand_over>, this};
};

/// What a port needs to take part. \tparam Port is derived from it
template <class Port, class Packet>
class arrival_end {
public:
    /// From now on, what arrives here and elsewhere at one time is handed over by rank. \param rank of this port among
    /// all, by path
    void join_order(arrival_order<Port, Packet>& order, std::uint32_t rank) {
        m_order = &order;
        m_rank = rank;
    }

protected:
    ~arrival_end() = default;
    /// A packet has come: Port::deliver() follows when its turn is, or at once where there is no order.
    void hand_over(const Packet& p) {
        auto& self = static_cast<Port&>(*this);
        if (m_order)
            m_order->enqueue(self, m_rank, p);
        else
            self.deliver(p);
    }

private:
    arrival_order<Port, Packet>* m_order = nullptr;
    std::uint32_t m_rank = 0;
};

/// Ranks ports by path of their links, which is the name of the end that receives.
template <class Port, class Packet>
void rank_by_path(std::vector<Port*> ports, arrival_order<Port, Packet>& order) {
    std::sort(ports.begin(), ports.end(),
              [](const Port* a, const Port* b) { return std::strcmp(a->name(), b->name()) < 0; });
    for (std::size_t i = 0; i < ports.size(); ++i) ports[i]->join_order(order, static_cast<std::uint32_t>(i));
}

}  // namespace fabricvp::link
