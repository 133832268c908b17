// SPDX-License-Identifier: Apache-2.0
// The GPU applications that come with the project (firmware/programs/apps, listed in abi/apps.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/platform.h"

namespace fabricvp {

struct gpu_app {
    std::string name;
    std::uint64_t size;                                                       ///< default
    std::string unit;                                                         ///< what the size counts
    double (*bytes)(double n, double density, double columns, double width);  ///< of device memory; its options, or 0
    double footprint() const;                                                 ///< at the default size
    std::string help;
    bool distributed = false;  ///< over all GPUs of all nodes; footprint() counts bytes of each GPU
};

const std::vector<gpu_app>& gpu_apps();
/// GPUs of a node that applications can use: those of their driver (firmware/drivers/gpu/gpu.h).
inline constexpr std::size_t max_app_gpus = 16;
/// Whether this is the name of an application over all GPUs of all nodes.
bool is_distributed_app(const std::string& name);

/// What an application can be told beside its size.
struct gpu_app_option {
    std::string app, key;
    double min, max, default_value;
    std::string help;
};
const std::vector<gpu_app_option>& gpu_app_options();

/// What an option stands at: \param line key=value words of a kernel command line \returns the default where it is not
/// among them, 0 where the application has no such option
double app_option_value(const std::string& app, const std::string& key, const std::string& line);
/// Bytes of device memory at a size, with the options that stand on a kernel command line.
double app_bytes(const gpu_app& app, std::uint64_t size, const std::string& line);

/// How an application runs.
struct app_options {
    std::uint64_t size = 0;  ///< 0: its default
    std::uint64_t gpus = 0;  ///< 0: all that there are
    std::string placement;   ///< of pages: one of app_placements(), empty: contiguous
    std::string dispatch;    ///< of work-groups: one of app_dispatches(), empty: contiguous
    std::string input;     ///< file that it works on instead of input of its own making (`spmv`: a Matrix Market file)
    std::string settings;  ///< of its own options: KEY=VALUE, with commas between several
};
const std::vector<std::string>& app_placements();
const std::vector<std::string>& app_dispatches();

/// The application that images run (the first, if several run one after the other); empty for other software.
std::string app_of(const image_set& images);
/// \throws input_error if a RAM disk or a kernel has no effect: nothing on the node can use it
void check_images(std::size_t node, const image_set& images);
/// The kernel command line of images, with the seed of what an application makes as its input; as it is for other
/// software, and for 1, the seed that stands without one.
std::string append_with_seed(const image_set& images, std::uint64_t seed);
/// What a run of an application takes, about: instructions of harts, beside copies and launches, instructions of
/// wavefronts, and events of the simulation.
struct app_work {
    double host = 0, wavefronts = 0, events = 0;
    /// With a release build on a core of today.
    double seconds() const;
};
/// Who takes part in an application over all GPUs of all nodes: GPUs of one node, GPUs of all, and nodes.
struct app_members {
    std::size_t here = 1, all = 1, nodes = 1;
};
/// One node's share. Nothing where it follows from a file, or images run several applications.
std::optional<app_work> work_of(const image_set& images, const app_members& members = {});
/// Of all nodes that a machine has.
std::vector<app_members> members_of(const machine_params& params);
/// Images that run an application on a node. \throws input_error for an unknown name, policy or option, and for options
/// that would have no effect
image_set images_of_app(const std::string& name, const app_options& options);
/// \throws input_error if a node has no GPU, or more than applications use, or fewer than asked for; \param what begins
/// the message
void require_gpus(const platform& machine, std::size_t node, const std::string& what, std::uint64_t asked = 0);
/// The number of a policy. \throws input_error if the text is none of `known`; \param key the option
std::size_t app_policy(const char* key, const std::string& text, const std::vector<std::string>& known);
/// Lets a node run an application. \throws input_error if the node has no GPU, too few, or too little memory for the
/// size, and as images_of_app()
void load_app(platform& machine, std::size_t node, const std::string& name, const app_options& options);
/// Lets all nodes run an application over all their GPUs. \throws input_error if a node has no GPU, or none of the RDMA
/// adapters that several nodes need, or too little memory, and as images_of_app()
void load_distributed_app(platform& machine, const std::string& name, const app_options& options);

}  // namespace fabricvp
