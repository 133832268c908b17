// SPDX-License-Identifier: Apache-2.0
// Kernels that a user brings along: jobs for the application `kernel` (firmware/programs/apps/kernel_job.c), as the RAM
// disk holds them, and the command line's way to write them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/common/files.h"

namespace fabricvp {

struct kernel_job_request {
    struct buffer {
        std::uint64_t bytes = 0;
        std::string contents;        ///< at first; empty: zeros; shorter than `bytes`: the rest is undefined
        bool out = false;            ///< copied back when the kernel has ended
        std::uint64_t argument = 0;  ///< offset in the arguments where its address goes
        std::uint32_t place = 0;     ///< KERNEL_JOB_PLACE_… (abi/kernel_job.h)
        std::string file = {};       ///< that gets the contents in the end; empty: none
        held_file held = {};         ///< keeps it open until then, if it is a FIFO
        bool always = false;         ///< comes back also after a fault: what `run --program` gives a program's block
        bool keep = false;           ///< stays when the job has ended, at the address that the application writes
        struct of_earlier_job {
            std::uint64_t address;      ///< 0: of a job of the same chain
            std::uint32_t job, buffer;  ///< their numbers
        };
        std::optional<of_earlier_job> kept = {};  ///< it is there already
        std::uint32_t row = 0;                    ///< of LADM's table, 0: unknown; what it means is in abi/kernel_job.h
        std::uint64_t pitch = 0;
        std::uint32_t datablock = 0;
    };

    std::string elf;     ///< the file itself
    std::string kernel;  ///< which kernel of it; empty: the first
    std::array<std::uint32_t, 3> items{1, 1, 1};
    std::array<std::uint32_t, 3> group{1, 1, 1};
    std::uint32_t lds_bytes = 0;
    bool cooperative = false;  ///< all work-groups at the same time
    std::string arguments;     ///< laid out as the kernel's struct
    std::vector<buffer> buffers;
    std::optional<unsigned> gpu;  ///< none: spread over all of the node
    std::uint32_t stream = 0;     ///< jobs of a chain with the same number follow each other
    std::uint32_t placement = 0;  ///< on all GPUs: enum gpu_placement_policy, gpu_dispatch_policy
    std::uint32_t dispatch = 0;
    std::uint64_t after = 0;  ///< bit n: begins when job n of the chain has ended
    bool keep = false;        ///< the application waits for another job afterwards
};

/// A RAM disk with a job.
struct kernel_job_image {
    std::string bytes;
    std::vector<std::uint64_t> contents;   ///< where each buffer is, and comes back to
    std::vector<std::uint64_t> addresses;  ///< where the application writes the address of each
};
/// \throws input_error for what no kernel can be launched with
kernel_job_image make_kernel_job(const kernel_job_request& request);

/// What the application has written into the head of a RAM disk.
struct kernel_job_result {
    std::uint32_t state, fault;              ///< enum kernel_job_state, enum gpu_fault
    std::uint64_t nanoseconds;               ///< from the launch to the kernel's end
    std::uint64_t start_ns = 0, end_ns = 0;  ///< since the machine began
};
kernel_job_result read_kernel_job(const std::string& head);
/// Bytes that read_kernel_job() needs, and the offset of `state`, which is written last.
std::size_t kernel_job_head_bytes();
std::size_t kernel_job_state_offset();

/// Arguments as the command line names them, in the order of the kernel's struct: `u32:N`, `i32:N`, `u64:N`, `i64:N`,
/// `f32:X`, `f64:X`, or a buffer: `zeros:SIZE`, `in:PATH` (`file:PATH` is the same), `inout:PATH`, `out:SIZE:PATH`.
/// Adds them and their buffers to `request`. \throws input_error
void add_kernel_arguments(kernel_job_request& request, const std::vector<std::string>& texts);
/// What the kernel does with the buffers among the arguments, in their order: `ROW[:PITCH[:DATABLOCK]]` by LADM's
/// table. \throws input_error
void add_localities(kernel_job_request& request, const std::vector<std::string>& texts);
/// "N", "NxM" or "NxMxK". \throws input_error
std::array<std::uint32_t, 3> parse_grid(const std::string& text, const char* option);

/// A size with unit, up to `most` bytes. \throws input_error
std::uint64_t parse_size(const std::string& text, const char* option, std::uint64_t max);

/// A file that is there as long as the process is and holds `bytes`, and zeros behind them up to `size`. \returns its
/// path
std::string file_of_bytes(const std::string& bytes, std::size_t size = 0);
/// Whether a path is that of such a file, which no other process finds there.
bool is_file_of_bytes(const std::string& path);

}  // namespace fabricvp
