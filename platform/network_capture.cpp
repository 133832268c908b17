// SPDX-License-Identifier: Apache-2.0
#include "platform/network_capture.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>
#include <fnmatch.h>

#include "base/log.h"
#include "base/parameters.h"
#include "base/quantity.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/common/unmatched.h"

namespace fabricvp {
namespace {

namespace fs = std::filesystem;

network::subnet& there(network::subnet* n) {
    if (!n) throw input_error("a capture needs a network: the configuration has no network.links");
    return *n;
}

bool ends_in(const std::string& name, const std::string& end) {
    return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

network_capture::network_capture(network::subnet* n, const std::string& file, const std::string& filter,
                                 std::uint64_t max_bytes)
    : m_network(there(n)), m_name(file), m_max_bytes(max_bytes) {
    std::vector<std::string> names;
    const auto chosen = [&](const network::port& p, bool end) {
        names.emplace_back(p.name());
        if (filter.empty()) return end;
        const std::string name = p.name();
        return fnmatch(filter.c_str(), name.c_str(), 0) == 0 || name.find(filter) != std::string::npos;
    };
    if (!m_network.tap(chosen, nullptr))
        throw input_error(fmt::format("capture: no port of the network has a name such as '{}': {}", filter,
                                      why_unmatched(filter, names)));
    m_held = check_writable(file);
    const auto sink = [this](const void* record, std::size_t size) { write(record, size); };
    network::packet_tap* tap = nullptr;
    if (ends_in(file, ".csv")) {
        m_table = std::make_unique<network::packet_table>(sink);
        tap = m_table.get();
    } else {
        m_capture = std::make_unique<network::packet_capture>(sink);
        tap = m_capture.get();
    }
    m_network.tap(chosen, tap);
}

network_capture::~network_capture() {
    m_network.tap([](const network::port&, bool) { return true; }, nullptr);
    if (m_file) std::fclose(m_file);
    if (!m_temporary.empty()) std::remove(m_temporary.c_str());
}

/// The head, or a packet: each is in the file as a whole.
void network_capture::write(const void* record, std::size_t size) {
    if (m_full) return;
    if (m_bytes && m_bytes + size > m_max_bytes) {
        m_full = true;
        return log_message(log_level::warning, "capture",
                           fmt::format("{} has reached its limit of {}; packets from now on are not in it", m_name,
                                       quantity_text(parameter_kind::byte_size, m_max_bytes)));
    }
    m_bytes += size;
    if (m_file)
        m_failed |= std::fwrite(record, 1, size, m_file) != size;
    else
        m_early.append(static_cast<const char*>(record), size);
}

void network_capture::open() {
    if (m_file) return;
    // Files appear once they are whole; a FIFO or a device gets what there is.
    std::error_code ignored;
    if (const auto status = fs::status(m_name, ignored); !fs::exists(status) || fs::is_regular_file(status))
        m_temporary = fmt::format("{}.{}.tmp", m_name, ::getpid());
    m_file = std::fopen((m_temporary.empty() ? m_name : m_temporary).c_str(), "wb");
    if (!m_file) throw_unwritable(m_name, errno);
    m_held.reset();
    m_failed |= std::fwrite(m_early.data(), 1, m_early.size(), m_file) != m_early.size();
    m_early.clear();
}

void network_capture::flush() {
    open();
    if (std::fflush(m_file) != 0 || m_failed)
        throw input_error(fmt::format("{}: the capture could not be written whole", m_name));
    if (m_temporary.empty()) return;
    if (std::rename(m_temporary.c_str(), m_name.c_str()) != 0) throw_unwritable(m_name, errno);
    m_temporary.clear();
}

}  // namespace fabricvp
