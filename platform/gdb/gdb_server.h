// SPDX-License-Identifier: Apache-2.0
// The GDB remote serial protocol on a loopback TCP port, for one node: the node is a process, its harts are threads,
// and all of them stop together (all-stop mode). One debugger at a time; others may follow after it has left.
//
// The server lives on the simulation thread. poll() is called between slices; it costs a system call when there is
// nothing to do, and does not return while the debugger holds the machine. A debugger that goes away, cleanly or not,
// leaves no breakpoint behind and the machine running.
#pragma once

#include <cstdint>
#include <memory>

#include "platform/gdb/gdb_hooks.h"

namespace fabricvp {

class gdb_server {
public:
    gdb_server(gdb_process process, gdb_hooks hooks);
    /// Tells a connected debugger that the process has exited.
    ~gdb_server();
    gdb_server(const gdb_server&) = delete;
    gdb_server& operator=(const gdb_server&) = delete;

    /// Listens on 127.0.0.1 (port 0: any free one). \returns the port. \throws std::runtime_error with one line
    std::uint16_t listen(std::uint16_t port);
    /// Makes poll() wait until a debugger has connected and resumed the machine. Call it before the first slice.
    void hold();
    /// Serves the debugger, as long as it holds the machine. Not from within a calendar callback.
    void poll();
    /// Serves the debugger without waiting, while another node's debugger holds the machine for instance.
    void serve();
    /// True while a debugger holds the machine, or hold() still waits for one.
    bool holding() const;
    /// True while a debugger is attached, whether the machine runs or not.
    bool attached() const;
    /// In a forked child: closes the sockets, which stay the parent's, and lets the harts run.
    void abandon();
    /// Reports the end of the simulation with the guest's exit status and closes the connection.
    void ended(int status);

private:
    struct implementation;
    std::unique_ptr<implementation> m;
};

}  // namespace fabricvp
