// SPDX-License-Identifier: Apache-2.0
// Writes FOLDER/sample.pcap and FOLDER/sample.csv: packets of every operation, as they leave a port. For
// check_capture.py.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "base/calendar.h"
#include "network/capture.h"
#include "unit/network/packet_samples.h"

namespace {

using namespace fabricvp;
using namespace fabricvp::network;

class end final : public model, private port_owner {
public:
    port link;
    explicit end(const sc_core::sc_module_name& name)
        : model(name), link("link", params(), static_cast<port_owner&>(*this)) {}

private:
    static port_params params() {
        port_params p;
        p.queue = 100'000;
        return p;
    }
    void packet_arrived(port& at, const packet_ptr& p) override { at.release(*p, now()); }
    void space_available(port&, unsigned) override {}
};

struct both final : packet_tap {
    packet_capture& capture;
    packet_table& table;
    both(packet_capture& c, packet_table& t) : capture(c), table(t) {}
    void packet_sent(const port& by, const packet& p, ticks begin) override {
        capture.packet_sent(by, p, begin);
        table.packet_sent(by, p, begin);
    }
};

}  // namespace

int sc_main(int argc, char* argv[]) {
    if (argc != 2) return 2;
    const std::string folder = argv[1];
    std::FILE* files[2] = {std::fopen((folder + "/sample.pcap").c_str(), "wb"),
                           std::fopen((folder + "/sample.csv").c_str(), "wb")};
    if (!files[0] || !files[1]) return 2;
    const auto into = [](std::FILE* f) {
        return [f](const void* bytes, std::size_t size) { std::fwrite(bytes, 1, size, f); };
    };
    calendar timeline;
    end a("a"), b("b");
    connect(a.link, b.link);
    a.link.configure(1);
    b.link.configure(2);
    packet_capture capture(into(files[0]));
    packet_table table(into(files[1]));
    both tap(capture, table);
    a.link.tap = &tap;
    std::mt19937_64 random(17);
    for (unsigned round = 0; round < 12; ++round)
        for (unsigned opcode = 0; opcode < 256; ++opcode)
            if (extensions_of(static_cast<std::uint8_t>(opcode)))
                a.link.send(test::make_sample(static_cast<std::uint8_t>(opcode), random, round & 1));
    timeline.run_until(ticks_per_second / 100);
    for (auto* f : files) std::fclose(f);
    return capture.packets() == 12 * 37 ? 0 : 1;
}
