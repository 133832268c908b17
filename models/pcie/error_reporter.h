// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "pcie/capabilities.h"
#include "pcie/configuration_space.h"
#include "pcie/tlp.h"

namespace fabricvp::pcie {

/// What a function does about an error that it finds (PCI Express Base Specification, 6.2): device status, the status,
/// header log and first error pointer of Advanced Error Reporting as masks and severities say, and a message to the
/// root port if software enabled it.
class error_reporter {
public:
    /// How an uncorrectable error counts where its severity is non-fatal: in full, or as advice, because another device
    /// decides what comes of it (the requester that gets an error completion).
    enum class weight { full, advisory };

    explicit error_reporter(configuration_space& space) : m_space(space) {}

    /// Sends ERR_COR, ERR_NONFATAL or ERR_FATAL.
    std::function<void(message_code)> on_message;

    /// \param bits of the correctable status
    void correctable(std::uint32_t bits);
    /// \param bit of the uncorrectable status \param t the TLP whose header is logged, if there is one
    void uncorrectable(std::uint32_t bit, const tlp* t = nullptr, weight w = weight::full);

private:
    void send(message_code code);

    configuration_space& m_space;
};

}  // namespace fabricvp::pcie
