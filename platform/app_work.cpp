// SPDX-License-Identifier: Apache-2.0
// How much GPU applications execute, so that a run can tell how long it takes before it begins.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "platform/apps.h"
#include "platform/params/machine_params.h"

namespace fabricvp {
namespace {

/// What work grows with.
enum class growth {
    bytes,     ///< of device memory
    products,  ///< of square matrices: GPUs' with the bytes, and with their square root
    sorting,   ///< GPUs' with the bytes, and with the square of their logarithm
    rows,      ///< GPUs' with the size, and with the entries of 64 lanes in a row
    images     ///< with the bytes beside those of weights, and with the channels
};
constexpr double weights = 4.2e6;  ///< bytes, of the networks in abi/apps.h with an eighth of the channels

/// As counted by `fabricvp run gpu --app NAME` at several sizes: sim.instructions, wavefront_instructions of all
/// compute units, sim.events. tests/python/test_app_work.py counts again.
struct measured_app {
    std::string_view name;
    double host, wavefronts, events;
    growth with = growth::bytes;
};
constexpr std::array<measured_app, 31> measured{{{"vectoradd", 6.05, 0.0234, 0.14},
                                                 {"transpose", 3.56, 0.102, 0.146},
                                                 {"fir", 23.3, 0.254, 0.3},
                                                 {"spmv", 5.1, 0.025, 1.2},
                                                 {"reduction", 2.56, 0.289, 0.17},
                                                 {"histogram", 14.7, 0.143, 0.18},
                                                 {"stencil", 16.3, 0.374, 0.48},
                                                 {"mm", 5, 0.0031, 0.0011, growth::products},
                                                 {"gups", 2.48, 0.00304, 0.226},
                                                 {"bitonicsort", 10.9, 0.028, 0.041, growth::sorting},
                                                 {"atax", 7.1, 0.0624, 1},
                                                 {"mvt", 7.4, 0.0624, 1},
                                                 {"mm2", 4.7, 0.00287, 0.0054, growth::products},
                                                 {"syr2k", 8.5, 0.0068, 0.022, growth::products},
                                                 {"im2col", 7.72, 0.294, 0.18},
                                                 {"jacobi2d", 15.9, 0.207, 0.29},
                                                 {"hpgmg_like", 12.9, 0.35, 0.63},
                                                 {"sp_like", 41.8, 0.737, 19},
                                                 {"euler3d_like", 57.1, 0.306, 1.05},
                                                 {"amg_like", 12.9, 0.038, 0.46},
                                                 {"lulesh_like", 26.7, 0.106, 0.5},
                                                 {"comd_like", 162, 1.93, 1.2},
                                                 {"pagerank", 31, 190, 200, growth::rows},
                                                 {"mis", 10.4, 0.75, 1.6},
                                                 {"lenet", 38.9, 2.7, 2.2, growth::images},
                                                 {"vgg16", 57.7, 4.3, 3.5, growth::images},
                                                 {"resnet18", 35.4, 3.1, 2.4, growth::images},
                                                 {"atax_wavefronts", 7, 0.075, 0.22},
                                                 {"mvt_wavefronts", 7.3, 0.075, 0.22},
                                                 {"mm2_tiled", 5, 0.0028, 0.0014, growth::products},
                                                 {"syr2k_tiled", 8, 0.003, 0.0013, growth::products}}};
constexpr double of_start = 6e5;     ///< instructions of the host: driver, queues, kernels of every application
constexpr double of_bring_up = 4e6;  ///< with adapters of several nodes
constexpr double of_gpu = 2e5;       ///< of each of several GPUs

struct app_request {
    const gpu_app* app;
    std::uint64_t size;
};

/// Nothing for other software, and for several applications one after the other.
std::optional<app_request> requested(const image_set& images) {
    const auto name = app_of(images);
    const auto& apps = gpu_apps();
    const auto app = std::find_if(apps.begin(), apps.end(), [&](const gpu_app& a) { return a.name == name; });
    if (app == apps.end() || !images.initrd.empty()) return std::nullopt;
    app_request r{&*app, app->size};
    std::istringstream words(images.append);
    for (std::string word; words >> word;) {
        if (word.compare(0, 5, "size=") == 0) r.size = std::strtoull(word.c_str() + 5, nullptr, 10);
        if (word.compare(0, 4, "app=") == 0 && word.substr(4) != name) return std::nullopt;
    }
    return r;
}

/// Applications over all GPUs: a node's share, counted in the same way.
app_work distributed_work(const app_request& what, const app_members& m, const std::string& options) {
    const auto size = static_cast<double>(what.size), here = static_cast<double>(m.here),
               all = static_cast<double>(m.all);
    app_work work{(m.nodes > 1 ? of_bring_up : of_start) + of_gpu * here, 0, 0};
    if (what.app->name ==
        "allreduce") {  // each element is added all - 1 times, and twice as often pushed over a fabric
        const auto pushed = 2 * (all - 1) / all * (m.nodes > 1 ? here - 1 : here);
        work.host += 49 * size * here;
        work.wavefronts = 0.32 * size * ((all - 1) / all * here + pushed);
        work.events = 3.3 * size * (all - 1) / all * here;
    } else if (what.app->name == "mm_ring") {  // a member multiplies its rows by all blocks, in tiles
        const auto block = std::ceil(size / all / 16) * 16 * all;
        work.host += 91 * size * size * here / all;
        work.wavefronts = 0.158 * block * block * size * here / all;
        work.events = 0.1 * size * size * size * here / all;
    } else {
        const auto cells = size * here * app_option_value(what.app->name, "columns", options),
                   steps = app_option_value(what.app->name, "steps", options);
        work.host += cells * (50 + 22 * steps);
        work.wavefronts = 0.69 * cells * steps;
        work.events = cells * steps;
    }
    return work;
}

}  // namespace

std::vector<app_members> members_of(const machine_params& params) {
    std::vector<app_members> members;
    std::size_t all = 0;
    for (const auto& node : params.nodes) all += node.fabric.devices.size();
    for (const auto& node : params.nodes) members.push_back({node.fabric.devices.size(), all, params.nodes.size()});
    return members;
}

std::optional<app_work> work_of(const image_set& images, const app_members& members) {
    const auto what = requested(images);
    if (!what) return std::nullopt;
    if (what->app->distributed) return distributed_work(*what, members, images.append);
    const auto known = std::find_if(measured.begin(), measured.end(),
                                    [&](const measured_app& m) { return m.name == what->app->name; });
    if (known == measured.end()) return std::nullopt;
    auto bytes = app_bytes(*what->app, what->size, images.append);
    const auto width = app_option_value(what->app->name, "width", images.append);  // 0: the application has none
    const auto eighths = width > 0 ? 8 * width : 1;
    if (known->with == growth::images) bytes -= weights * eighths * eighths;
    const auto size = static_cast<double>(what->size);
    const auto steps = [&] {
        switch (known->with) {
            case growth::products: return bytes * std::sqrt(bytes);
            case growth::sorting: return bytes * std::pow(std::log2(bytes), 2);
            case growth::rows:
                return size * (1 + size * app_option_value(what->app->name, "density", images.append) / 64);
            case growth::images: return bytes * eighths;
            default: return bytes;
        }
    }();
    app_work work{of_start + known->host * bytes, known->wavefronts * steps, known->events * steps};
    if (images.append.find("placement=first_touch_recorded") != std::string::npos) {  // runs it once before
        work.host *= 2;
        work.wavefronts *= 2;
        work.events *= 2;
    }
    return work;
}

double app_work::seconds() const {
    constexpr double host_speed = 200e6, wavefront_speed = 1.8e6, event_speed = 1.6e6;  // in a second
    return host / host_speed + wavefronts / wavefront_speed + events / event_speed;
}

}  // namespace fabricvp
