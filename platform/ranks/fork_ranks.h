// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "platform/ranks/communicator.h"

namespace fabricvp::ranks {

struct forked_run {
    int status;            ///< of rank 0, or of the one that failed
    bool results_written;  ///< rank 0 has said so
};

/// What a rank does in its process. \param results_written to be called by rank 0 once they are
using rank_work = std::function<int(process_communicator&, const std::function<void()>& results_written)>;

/// Runs `work` as `count` ranks, children of this process that exchange messages by shared memory, and waits for their
/// end. A rank that dies (an exception is SIGABRT), or ends without finish(), ends the others at once, which is told
/// of in one line. Signals that end a run (SIGINT, SIGTERM) are passed on. If this process dies, so do the ranks.
/// \throws input_error where processes or memory cannot be had
forked_run fork_ranks(unsigned count, const rank_work& work);

}  // namespace fabricvp::ranks
