// SPDX-License-Identifier: Apache-2.0
// Numbers of fields are those of Perfetto's trace.proto and what it includes.
#include <zlib.h>

#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include "base/trace_format.h"

namespace fabricvp::trace {
namespace {

using protozero::pbf_writer;

namespace trace_message {
constexpr unsigned packet = 1;
}
namespace packet {
constexpr unsigned timestamp = 8, sequence = 10, track_event = 11, interned_data = 12, sequence_flags = 13,
                   compressed_packets = 50, track_descriptor = 60, first_packet_on_sequence = 87;
constexpr unsigned state_cleared = 1, needs_state = 2;  // flags
}  // namespace packet
namespace event {
constexpr unsigned debug_annotations = 4, type = 9, name_iid = 10, track = 11, double_value = 44, flows = 47,
                   last_flows = 48;
enum kind { slice_begin = 1, slice_end, instant, counter };
}  // namespace event
namespace descriptor {
constexpr unsigned uuid = 1, name = 2, process = 3, parent = 5, counter = 8;
constexpr unsigned pid = 1, process_name = 6;  // of a process
}  // namespace descriptor
namespace interned {
constexpr unsigned event_names = 2, annotation_names = 3;
constexpr unsigned iid = 1, name = 2;  // of each
}  // namespace interned
namespace annotation {
constexpr unsigned name_iid = 1, unsigned_value = 3, pointer_value = 7;
}

enum annotation_names { access_name = 1, address_name };

class perfetto : public format {
public:
    explicit perfetto(int rank) : m_rank(rank), m_sequence(static_cast<unsigned>(rank + 2)) {}

    std::string head() const override {
        std::string process;
        pbf_writer to(process);
        const auto name = m_rank < 0 ? std::string("simulation") : fmt::format("rank {}", m_rank);
        to.add_int32(descriptor::pid, static_cast<std::int32_t>(m_sequence));
        to.add_string(descriptor::process_name, name);
        return packet_of([&](pbf_writer& first) {
            first.add_uint32(packet::sequence_flags, packet::state_cleared);
            first.add_bool(packet::first_packet_on_sequence, true);
            {
                pbf_writer names(first, packet::interned_data);
                intern(names, interned::annotation_names, access_name, "access");
                intern(names, interned::annotation_names, address_name, "address");
            }
            pbf_writer self(first, packet::track_descriptor);
            self.add_uint64(descriptor::uuid, uuid(0));
            self.add_message(descriptor::process, process);
        });
    }

    std::string track(unsigned number, std::string_view name) override { return described(2 * number, name, false); }

    std::string slice(unsigned track, std::string_view name, ticks begin, ticks end, const access* of) override {
        const auto first = named(name, [&](pbf_writer& p, unsigned iid) {
            p.add_uint64(packet::timestamp, nanoseconds(begin));
            pbf_writer e(p, packet::track_event);
            e.add_enum(event::type, event::slice_begin);
            e.add_uint64(event::track, uuid(2 * track));
            e.add_uint64(event::name_iid, iid);
            if (!of) return;
            annotate(e, access_name, annotation::unsigned_value, of->number);
            annotate(e, address_name, annotation::pointer_value, of->address);
        });
        return first + packet_of([&](pbf_writer& p) {
                   p.add_uint64(packet::timestamp, nanoseconds(end));
                   pbf_writer e(p, packet::track_event);
                   e.add_enum(event::type, event::slice_end);
                   e.add_uint64(event::track, uuid(2 * track));
               });
    }

    std::string instant(unsigned track, std::string_view name, ticks at) override {
        return instant(track, name, at, 0, ' ');
    }

    std::string counter(std::string_view name, ticks at, double value) override {
        std::string bytes;
        const auto [found, is_new] = m_counters.try_emplace(std::string(name), m_counters.size());
        const auto number = 2 * static_cast<unsigned>(found->second) + 1;
        if (is_new) bytes = described(number, name, true);
        return bytes + packet_of([&](pbf_writer& p) {
                   p.add_uint64(packet::timestamp, nanoseconds(at));
                   pbf_writer e(p, packet::track_event);
                   e.add_enum(event::type, event::counter);
                   e.add_uint64(event::track, uuid(number));
                   e.add_double(event::double_value, value);
               });
    }

    /// An instant in the slice: arrows become known after their slices were written.
    std::string arrow(unsigned track, std::string_view name, ticks at, std::uint64_t number, char phase) override {
        return instant(track, name, at, number, phase);
    }

    std::string packed(std::string events) const override {
        if (events.empty()) return {};
        auto size = compressBound(events.size());
        std::string compressed(size, '\0');
        if (compress(reinterpret_cast<Bytef*>(compressed.data()), &size, reinterpret_cast<const Bytef*>(events.data()),
                     events.size()) != Z_OK)
            throw std::runtime_error("the trace cannot be compressed");
        compressed.resize(size);
        return packet_of([&](pbf_writer& p) { p.add_bytes(packet::compressed_packets, compressed); });
    }

    std::string tail() const override { return {}; }

private:
    static std::uint64_t nanoseconds(ticks t) { return t / 1000; }
    /// Numbers of tracks that no other rank has.
    std::uint64_t uuid(std::uint64_t number) const { return number * 4096 + m_sequence; }

    template <class Fill>
    std::string packet_of(Fill fill) const {
        std::string bytes;
        pbf_writer all(bytes);
        {
            pbf_writer one(all, trace_message::packet);
            one.add_uint32(packet::sequence, m_sequence);
            fill(one);
        }
        return bytes;
    }

    /// A packet with the number of a name, which it tells if that is new.
    template <class Fill>
    std::string named(std::string_view name, Fill fill) {
        const auto [found, is_new] = m_names.try_emplace(std::string(name), m_names.size() + 1);
        const auto iid = static_cast<unsigned>(found->second);
        return packet_of([&, told = is_new](pbf_writer& p) {
            p.add_uint32(packet::sequence_flags, packet::needs_state);
            if (told) {
                pbf_writer names(p, packet::interned_data);
                intern(names, interned::event_names, iid, name);
            }
            fill(p, iid);
        });
    }

    static void intern(pbf_writer& names, unsigned field, unsigned iid, std::string_view name) {
        pbf_writer one(names, field);
        one.add_uint64(interned::iid, iid);
        one.add_string(interned::name, name.data(), name.size());
    }

    static void annotate(pbf_writer& e, unsigned name, unsigned field, std::uint64_t value) {
        pbf_writer one(e, event::debug_annotations);
        one.add_uint64(annotation::name_iid, name);
        one.add_uint64(field, value);
    }

    std::string described(unsigned number, std::string_view name, bool counts) const {
        return packet_of([&](pbf_writer& p) {
            pbf_writer d(p, packet::track_descriptor);
            d.add_uint64(descriptor::uuid, uuid(number));
            d.add_uint64(descriptor::parent, uuid(0));
            d.add_string(descriptor::name, name.data(), name.size());
            if (counts) d.add_message(descriptor::counter, std::string());
        });
    }

    std::string instant(unsigned track, std::string_view name, ticks at, std::uint64_t flow, char phase) {
        return named(name, [&](pbf_writer& p, unsigned iid) {
            p.add_uint64(packet::timestamp, nanoseconds(at));
            pbf_writer e(p, packet::track_event);
            e.add_enum(event::type, event::instant);
            e.add_uint64(event::track, uuid(2 * track));
            e.add_uint64(event::name_iid, iid);
            if (phase != ' ') e.add_fixed64(phase == 'f' ? event::last_flows : event::flows, flow);
        });
    }

    int m_rank;
    unsigned m_sequence;
    std::map<std::string, std::size_t> m_names, m_counters;  // numbers, by name
};

}  // namespace

std::unique_ptr<format> perfetto_format(int rank) { return std::make_unique<perfetto>(rank); }

}  // namespace fabricvp::trace
