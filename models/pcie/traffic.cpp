// SPDX-License-Identifier: Apache-2.0
#include "pcie/traffic.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.h"

namespace fabricvp::pcie {

namespace {

/// Words that differ from message to message and from run to run.
class pattern {
public:
    explicit pattern(std::uint64_t seed) : m_state(seed * 0x9e37'79b9'7f4a'7c15 + 1) {}
    std::uint64_t operator()() {
        m_state ^= m_state << 13;
        m_state ^= m_state >> 7;
        return m_state ^= m_state << 17;
    }

private:
    std::uint64_t m_state;
};

/// Messages that have not arrived; the last one stops the calendar.
struct outstanding {
    std::size_t left;
    bool abandoned = false;  ///< by the limit
};

/// One message under way. The engine holds on to it if the limit comes first.
class stream : public std::enable_shared_from_this<stream> {
public:
    delivery result;

    stream(traffic_end& source, traffic_end& destination, const message& m, unsigned channel, std::uint64_t from,
           std::uint64_t to, std::shared_ptr<outstanding> all)
        : m_source(source),
          m_destination(destination),
          m_bytes(m.bytes),
          m_channel(channel),
          m_from(from),
          m_to(to),
          m_all(std::move(all)),
          m_begin(calendar::current().now()) {
        calendar::current().schedule(m_start, m_begin + m.start);
    }

    bool intact() const {
        return std::memcmp(m_source.memory().data() + m_from, m_destination.memory().data() + m_to, m_bytes) == 0;
    }

private:
    ticks elapsed() const { return calendar::current().now() - m_begin; }

    void start() {
        const auto self = shared_from_this();
        m_destination.watch(m_to, m_bytes, [self] { self->arrive(); });
        m_source.push(
            m_from, m_destination.bus_address() + m_to, m_bytes, [self] { self->result.sent = self->elapsed(); },
            m_channel);
    }

    void arrive() {
        result.arrived = elapsed();
        if (--m_all->left == 0 && !m_all->abandoned) calendar::current().stop();
    }

    traffic_end &m_source, &m_destination;
    const std::uint64_t m_bytes;
    const unsigned m_channel;
    const std::uint64_t m_from, m_to;
    const std::shared_ptr<outstanding> m_all;
    const ticks m_begin;
    calendar_event m_start{method<&stream::start>, this};
};

using end_list = std::vector<traffic_end*>;

void check(const end_list& ends, const message& m, std::size_t index) {
    const auto reject = [&](const std::string& why) {
        throw std::invalid_argument(fmt::format("message {}: {}", index, why));
    };
    for (const auto end : {m.source, m.destination}) {
        if (end >= ends.size()) reject(fmt::format("there is no endpoint {}: there are {}", end, ends.size()));
        if (!ends[end]->bus_address()) reject(fmt::format("endpoint {} has not been enumerated", end));
    }
    if (m.source == m.destination) reject(fmt::format("endpoint {} would send to itself", m.source));
    if (m.bytes == 0) reject("it is empty");
    const auto channels = ends[m.source]->channels();
    if (m.channel != message::any_channel && m.channel >= channels)
        reject(fmt::format("there is no channel {}: endpoint {} has {}", m.channel, m.source, channels));
}

/// Where messages lie in the memories of their engines.
struct place {
    std::uint64_t from, to;
};

std::vector<place> lay_out(const end_list& ends, const std::vector<message>& messages) {
    std::vector<std::uint64_t> used(ends.size());
    const auto take = [&](unsigned engine, std::uint64_t bytes) {
        const auto at = used[engine];
        const auto size = ends[engine]->memory().size();
        if (bytes > size - at)
            throw std::invalid_argument(
                fmt::format("the messages of endpoint {} do not fit its memory of {} bytes", engine, size));
        used[engine] = std::min(size, at + (bytes + 4095) / 4096 * 4096);
        return at;
    };
    std::vector<place> places;
    for (const auto& m : messages) {
        const auto from = take(m.source, m.bytes);
        places.push_back({from, take(m.destination, m.bytes)});
    }
    return places;
}

void fill(sparse_memory& memory, std::uint64_t at, std::uint64_t bytes, pattern words) {
    for (std::uint64_t b = 0; b < bytes; b += 8) {
        const auto word = words();
        std::memcpy(memory.data() + at + b, &word, std::min<std::uint64_t>(8, bytes - b));
    }
}

}  // namespace

std::uint64_t engine_end::bus_address() const {
    const auto& config = m_engine.config;
    return config.memory_enabled() && config.bus_master() ? config.bar_base(COPY_ENGINE_BAR_MEMORY) : 0;
}

std::vector<delivery> run_traffic(const std::vector<copy_engine*>& engines, const std::vector<message>& messages,
                                  ticks limit) {
    static auto& known = *new std::map<copy_engine*, engine_end>;  // streams that a limit cuts refer to them
    end_list ends;
    for (auto* e : engines) ends.push_back(&known.try_emplace(e, *e).first->second);
    return run_traffic(ends, messages, limit);
}

std::vector<delivery> run_traffic(const end_list& ends, const std::vector<message>& messages, ticks limit) {
    for (std::size_t i = 0; i < messages.size(); ++i) check(ends, messages[i], i);
    const auto places = lay_out(ends, messages);
    if (messages.empty()) return {};

    static std::uint64_t runs = 0;
    ++runs;
    const auto all = std::make_shared<outstanding>(outstanding{messages.size()});
    std::vector<unsigned> next_channel(ends.size());
    std::vector<std::shared_ptr<stream>> streams;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto& m = messages[i];
        auto& source = *ends[m.source];
        fill(source.memory(), places[i].from, m.bytes, pattern(runs << 20 | i));
        const auto channel = m.channel != message::any_channel
                                 ? m.channel
                                 : next_channel[m.source]++ % static_cast<unsigned>(source.channels());
        streams.push_back(
            std::make_shared<stream>(source, *ends[m.destination], m, channel, places[i].from, places[i].to, all));
    }
    auto& timeline = calendar::current();
    timeline.run_until(timeline.now() + limit);
    all->abandoned = true;
    std::vector<delivery> deliveries;
    for (const auto& s : streams) {
        deliveries.push_back(s->result);
        deliveries.back().intact = s->result.arrived != never && s->intact();
    }
    return deliveries;
}

}  // namespace fabricvp::pcie
