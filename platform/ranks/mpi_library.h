// SPDX-License-Identifier: Apache-2.0
// MPI as the platform sees it: a library of the project's own (mpi/), loaded when a run has several ranks, so that
// other runs neither need MPI nor wait for it to start.
#pragma once

#include <memory>
#include <optional>

#include "platform/ranks/communicator.h"

namespace fabricvp::ranks {

/// Which of how many processes this one is, if Open MPI's mpirun has started it.
struct rank_info {
    unsigned rank, count;
};
std::optional<rank_info> launched_rank();

/// \throws input_error where the platform was built without MPI
std::unique_ptr<process_communicator> open_mpi();
/// \throws input_error where it cannot be opened
void check_mpi();

}  // namespace fabricvp::ranks
