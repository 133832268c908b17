// SPDX-License-Identifier: Apache-2.0
// How much the host does for GPU applications, so that a run can tell how long it takes.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "platform/apps.h"

namespace fabricvp {
namespace {

/// Instructions of the host for a byte of device memory, as counted at two sizes each (sim.instructions of
/// `fabricvp run gpu --app NAME`): they grow with the memory.
struct host_work {
    std::string_view app;
    double per_byte;
};
constexpr std::array<host_work, 31> measured{{{"vectoradd", 6.0},
                                              {"transpose", 2.8},
                                              {"fir", 23.3},
                                              {"spmv", 5.1},
                                              {"reduction", 2.5},
                                              {"histogram", 14.7},
                                              {"stencil", 16.2},
                                              {"mm", 6.8},
                                              {"gups", 2.5},
                                              {"bitonicsort", 10.6},
                                              {"atax", 7.1},
                                              {"mvt", 5.8},
                                              {"mm2", 4.3},
                                              {"syr2k", 8.0},
                                              {"im2col", 6.1},
                                              {"jacobi2d", 15.7},
                                              {"hpgmg_like", 12.9},
                                              {"sp_like", 41.8},
                                              {"euler3d_like", 57.2},
                                              {"amg_like", 12.5},
                                              {"lulesh_like", 26.6},
                                              {"comd_like", 168},
                                              {"pagerank", 30.3},
                                              {"mis", 10.4},
                                              {"lenet", 38.9},
                                              {"vgg16", 57.7},
                                              {"resnet18", 35.4},
                                              {"atax_wavefronts", 7.0},
                                              {"mvt_wavefronts", 5.8},
                                              {"mm2_tiled", 4.2},
                                              {"syr2k_tiled", 7.8}}};
constexpr double of_start = 6e5;  ///< driver, queues, kernels: of every application

}  // namespace

std::optional<double> host_instructions_of(const image_set& images) {
    const auto name = app_of(images);
    const auto& apps = gpu_apps();
    const auto app = std::find_if(apps.begin(), apps.end(), [&](const gpu_app& a) { return a.name == name; });
    const auto work = std::find_if(measured.begin(), measured.end(), [&](const host_work& w) { return w.app == name; });
    if (app == apps.end() || work == measured.end() || !images.initrd.empty()) return std::nullopt;
    auto size = static_cast<double>(app->size);
    std::istringstream words(images.append);
    for (std::string word; words >> word;) {
        if (word.compare(0, 5, "size=") == 0) size = std::strtod(word.c_str() + 5, nullptr);
        if (word.compare(0, 8, "density=") == 0) return std::nullopt;  // its memory is another one
        if (word.compare(0, 4, "app=") == 0 && word.substr(4) != name) return std::nullopt;
    }
    return of_start + work->per_byte * app->bytes(size);
}

}  // namespace fabricvp
