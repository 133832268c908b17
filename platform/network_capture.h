// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "network/capture.h"
#include "network/subnet.h"
#include "platform/common/files.h"

namespace fabricvp {

/// A file with each packet that leaves by certain ports of the network. It has its name after the first run; what later
/// runs add grows in place.
class network_capture {
public:
    /// \param file a table of header fields if its name ends in .csv, otherwise a capture for Wireshark \param filter a
    /// glob over names of ports, or text that they contain; empty: the ports of adapters and generators \throws
    /// input_error \param max_bytes of the file, which ends with the last whole packet before
    network_capture(network::subnet* network, const std::string& file, const std::string& filter,
                    std::uint64_t max_bytes);
    ~network_capture();
    network_capture(const network_capture&) = delete;
    network_capture& operator=(const network_capture&) = delete;

    /// Opens the file, as a run begins: what was in it stays if the run is rejected before. \throws input_error
    void open();
    /// Brings what was captured into the file, and gives it its name. \throws input_error if it could not be written
    void flush();

private:
    void write(const void* record, std::size_t size);

    network::subnet& m_network;
    std::string m_name;
    const std::uint64_t m_max_bytes;
    std::uint64_t m_bytes = 0;
    bool m_full = false;
    std::string m_early;      ///< what comes before open()
    std::string m_temporary;  ///< the file's name until it is whole; empty: it has its own
    held_file m_held;
    std::FILE* m_file = nullptr;
    bool m_failed = false;
    std::unique_ptr<network::packet_capture> m_capture;
    std::unique_ptr<network::packet_table> m_table;
};

}  // namespace fabricvp
