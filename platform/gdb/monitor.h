// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "platform/gdb/gdb_hooks.h"

namespace fabricvp::gdb {

/// The `monitor` commands: what people type beside the debugger's own language.
class monitor {
public:
    /// \param after_reset called when the machine has been reset \param selected the debugger's present thread; all
    /// must outlive this object
    monitor(const gdb_hooks& hooks, std::function<void()> after_reset, std::function<riscv::debug_target&()> selected);

    /// \returns the text to show, with a line feed at its end; never throws.
    std::string execute(std::string_view line);

private:
    std::string help() const;
    std::string stats(const std::string& argument);
    std::string trace(const std::string& argument, const std::string& file);
    std::string reset();
    std::string kernel(const std::string& name);
    std::string lane(const std::string& argument);
    std::string queue_pair(const std::string& number) const;
    std::string gpu_queue(const std::string& first, const std::string& second) const;
    std::string time() const;

    const gdb_hooks& m_hooks;
    std::function<void()> m_after_reset;
    std::function<riscv::debug_target&()> m_selected;
};

}  // namespace fabricvp::gdb
