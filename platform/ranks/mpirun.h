// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fabricvp::ranks {

/// Runs this process's own command line as `count` ranks on this machine, by mpirun, and waits for their end.
/// \returns the exit status; a rank that dies is told of in one line \throws input_error where mpirun is missing
int mpirun(unsigned count);
/// A rank's messages may be read as they come: mpirun() was not called by a process that writes into a file or pipe.
bool shown_on_terminal();

}  // namespace fabricvp::ranks
