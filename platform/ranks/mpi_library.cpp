// SPDX-License-Identifier: Apache-2.0
#include "platform/ranks/mpi_library.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <dlfcn.h>

#include <fmt/format.h>

#include "platform/common/input_error.h"

namespace fabricvp::ranks {

namespace {

constexpr const char* file_name = "libfabricvp_mpi.so";

/// Beside the program or Python module that this code is in, or where either's neighbours are installed or built.
std::string find_library() {
    namespace fs = std::filesystem;
    Dl_info self;
    if (!dladdr(reinterpret_cast<void*>(&check_mpi), &self)) return {};
    std::error_code ignored;
    const auto program = fs::read_symlink("/proc/self/exe", ignored);
    for (const auto& folder : {fs::path(self.dli_fname).parent_path(), program.parent_path()})
        for (const char* relative : {".", "../lib", FABRICVP_LIBRARY_FOLDER, "../..", "../python/fabricvp"})
            if (const auto file = folder / relative / file_name; fs::exists(file, ignored)) return file.string();
    return {};
}

std::string library() {
    const auto file = find_library();
    if (file.empty())
        throw input_error(
            "ranks need MPI, which this build of the platform lacks (Debian: libopenmpi-dev and openmpi-bin, then "
            "build again)");
    return file;
}

}  // namespace

std::optional<rank_info> launched_rank() {
    const auto number = [](const char* name) {
        const char* text = std::getenv(name);
        return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 0;
    };
    if (!std::getenv("OMPI_COMM_WORLD_SIZE")) return std::nullopt;
    return rank_info{number("OMPI_COMM_WORLD_RANK"), number("OMPI_COMM_WORLD_SIZE")};
}

void check_mpi() { library(); }

std::unique_ptr<process_communicator> open_mpi() {
    // Open MPI loads parts of its own, which want to find its symbols.
    void* loaded = dlopen(library().c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!loaded)
        throw input_error(fmt::format("MPI cannot be loaded: {} (Debian: apt install openmpi-bin)", dlerror()));
    using opener = process_communicator* (*)();
    return std::unique_ptr<process_communicator>(reinterpret_cast<opener>(dlsym(loaded, "fabricvp_open_mpi"))());
}

}  // namespace fabricvp::ranks
