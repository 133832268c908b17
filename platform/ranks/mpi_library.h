// SPDX-License-Identifier: Apache-2.0
// MPI as the platform sees it: a library of the project's own (mpi/), loaded when a run has several ranks, so that
// other runs neither need MPI nor wait for it to start.
#pragma once

#include <memory>
#include <optional>

#include "platform/ranks/exchange.h"

namespace fabricvp::ranks {

/// An exchange between processes that something like mpirun has started.
class process_exchange : public exchange {
public:
    /// All ranks part in peace. Without it, the end of one process ends all.
    virtual void finish() = 0;
};

/// Which of how many processes this one is, if Open MPI's mpirun has started it.
struct place {
    unsigned rank, count;
};
std::optional<place> place_in_world();

/// \throws input_error where the platform was built without MPI
std::unique_ptr<process_exchange> open_mpi();
/// \throws input_error where it cannot be opened
void check_mpi();

}  // namespace fabricvp::ranks
