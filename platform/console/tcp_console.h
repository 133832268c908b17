// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "platform/console/console_backend.h"

namespace fabricvp {

/// A serial line on a loopback TCP port, for one client at a time. Who connects later gets all that was printed before.
class tcp_console final : public console_backend {
public:
    /// \param port 0: any free one \param so_far printed before the port was opened \throws input_error
    tcp_console(std::uint16_t port, const std::string& so_far);
    ~tcp_console() override;

    void write(std::string_view text) override;
    std::string poll(bool room = true) override;
    bool may_type() const override { return true; }
    void abandon() override;
    std::uint16_t port() const override;

private:
    struct server;
    std::unique_ptr<server> m;
};

}  // namespace fabricvp
