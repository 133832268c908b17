// SPDX-License-Identifier: Apache-2.0
// What an empty window's exchange costs between two ranks: all_to_all() of a header and nothing else. Prints one line
// of JSON: microseconds an exchange, the fastest batch (as on quiet cores) and the median one. By MPI where mpirun has
// started it, else by shared memory.
//
//     exchange_bench [EXCHANGES]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <systemc>

#include "platform/ranks/fork_ranks.h"
#include "platform/ranks/mpi_library.h"

namespace {

using namespace fabricvp::ranks;

int run(process_communicator& communicator, unsigned exchanges) {
    constexpr unsigned batch = 200;
    constexpr std::size_t header_bytes = 32;  // window_synchronizer's
    std::vector<bytes> to(communicator.count(), bytes(header_bytes)), from(communicator.count());
    std::vector<double> times;
    for (unsigned done = 0; done < exchanges; done += batch) {
        const auto began = std::chrono::steady_clock::now();
        for (unsigned i = 0; i < batch; ++i) communicator.all_to_all(to, from);
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
