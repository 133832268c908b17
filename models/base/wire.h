// SPDX-License-Identifier: Apache-2.0
// A level-sensitive wire (interrupt lines, reset requests). A change is seen at once, in the driver's callback: no
// delta cycle, no process. One driver, any number of listeners.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace fabricvp {

class wire {
public:
    using listener = std::function<void(bool level)>;

    void connect(listener l) { m_listeners.push_back(std::move(l)); }

    void drive(bool level) {
        if (level == m_level) return;
        m_level = level;
        for (auto& l : m_listeners) l(level);
    }
    bool level() const { return m_level; }

private:
    std::vector<listener> m_listeners;
    bool m_level = false;
};

}  // namespace fabricvp
