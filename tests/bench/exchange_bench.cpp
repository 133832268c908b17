// SPDX-License-Identifier: Apache-2.0
// What it costs two ranks to go from one empty window, in which both take part, to the next one. Prints one line of
// JSON: microseconds an exchange, the fastest batch (as on quiet cores) and the median one. By MPI where mpirun has
// started it, else by shared memory.
//
//     exchange_bench [EXCHANGES]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <systemc>

#include "platform/ranks/all_to_all_windows.h"
#include "platform/ranks/fork_ranks.h"
#include "platform/ranks/mpi_library.h"

namespace {

using namespace fabricvp;
using namespace fabricvp::ranks;

int run(process_communicator& communicator, unsigned exchanges) {
    constexpr unsigned batch = 200;
    const std::vector<bytes> nothing(communicator.count());
    const std::vector<ticks> due(communicator.count(), never);
    const auto windows = windows_of(communicator, 1);
    window_report own;
    own.next = 0;
    std::vector<double> times;
    for (unsigned done = 0; done < exchanges; done += batch) {
        const auto began = std::chrono::steady_clock::now();
        for (unsigned i = 0; i < batch; ++i, ++own.next) windows->next(own, nothing, due, [](const auto&, auto) {});
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
        times.push_back(took.count() / batch);
    }
    std::sort(times.begin(), times.end());
    if (communicator.rank() == 0)
        fmt::print("{{\"fastest_us\": {:.4f}, \"median_us\": {:.4f}}}\n", times.front(), times[times.size() / 2]);
    communicator.finish();
    return 0;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    const auto exchanges = argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 200'000;
    if (launched_rank()) return run(*open_mpi(), exchanges);
    return fork_ranks(2, [&](process_communicator& c, const auto&) { return run(c, exchanges); }).status;
}
