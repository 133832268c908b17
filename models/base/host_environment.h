// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fabricvp {

/// The host's default floating-point environment for a scope (libraries built with -ffast-math change it).
class host_environment {
public:
    host_environment();
    ~host_environment();
    host_environment(const host_environment&) = delete;
    host_environment& operator=(const host_environment&) = delete;

private:
    std::uint32_t m_saved;
};

}  // namespace fabricvp
