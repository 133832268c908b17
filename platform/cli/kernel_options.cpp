// SPDX-License-Identifier: Apache-2.0
// `run --kernel-elf`: a kernel that the user brings along.
#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>

#include "abi/kernel_job.h"
#include "platform/cli/command.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/kernel_job.h"
#include "platform/loader/image_set.h"
#include "platform/machine.h"

namespace fabricvp::cli {
namespace {

constexpr const char* names[] = {"kernel-name", "grid", "group", "lds", "arg", "locality"};
/// What brings software of its own.
constexpr const char* others[] = {"firmware", "kernel", "initrd", "append", "tohost", "app", "size"};

/// A row of 256, or 16 by 16, or 8 by 8 by 4, as far as the grid goes.
std::array<std::uint32_t, 3> default_group(const std::array<std::uint32_t, 3>& items) {
    std::array<std::uint32_t, 3> group{256, 1, 1};
    if (items[2] > 1)
        group = {8, 8, 4};
    else if (items[1] > 1)
        group = {16, 16, 1};
    for (unsigned d = 0; d < 3; ++d) group[d] = std::min(group[d], items[d]);
    return group;
}

/// One GPU, or several with policies for pages and work-groups. \throws input_error
void add_spread(kernel_job_request& r, const app_options& spread) {
    if (spread.gpus <= 1) {
        r.gpu = 0;
        for (const auto& [option, value] : {std::pair{"placement", spread.placement}, {"dispatch", spread.dispatch}})
            if (!value.empty())
                throw input_error(fmt::format(
                    "--{} {} has no effect: the kernel runs on GPU 0 (--gpus N: on N of them)", option, quoted(value)));
        return;
    }
    auto placements = app_placements();
    placements.pop_back();  // first_touch_recorded runs everything twice, of which a kernel knows nothing
    if (!spread.placement.empty())
        r.placement = static_cast<std::uint32_t>(app_policy("placement", spread.placement, placements));
    if (!spread.dispatch.empty())
        r.dispatch = static_cast<std::uint32_t>(app_policy("dispatch", spread.dispatch, app_dispatches()));
}

}  // namespace

options::options_description kernel_options() {
    options::options_description o(
        "a kernel of your own on node0, on GPU 0 or with --gpus on several (`fabricvp new kernel` makes one)");
    o.add_options()("kernel-elf", options::value<std::string>()->value_name("FILE"), "ELF file with the kernel")(
        "kernel-name", options::value<std::string>()->value_name("NAME"), "which kernel of it (default: the first)")(
        "grid", options::value<std::string>()->value_name("N[xM[xK]]"),
        "work-items (default: 1); with --program FILE.hip or .cu blocks")(
        "group", options::value<std::string>()->value_name("N[xM[xK]]"),
        "work-items of a work-group, or threads of a block (default: 256, 16x16 or 8x8x4)")(
        "lds", options::value<std::string>()->value_name("SIZE"),
        "dynamic local data share of a work-group, e.g. 1KiB")(
        "arg", options::value<arguments>()->value_name("KIND:VALUE"),
        "next member of its arguments: u32:N, i32:N, u64:N, i64:N, f32:X, f64:X, or a pointer to a buffer: zeros:SIZE, "
        "in:PATH (file:PATH is the same), inout:PATH (written back when the kernel has ended) or out:SIZE:PATH (zeros "
        "at first), or with --program local:SIZE; repeatable")(
        "locality", options::value<arguments>()->value_name("ROW[:PITCH[:BLOCK]]"),
        "what the kernel does with its next buffer, for --placement lasp and --dispatch lasp: row "
        "of LADM's table (0: unknown), bytes of a row or stride, bytes that a work-group uses of "
        "it at a time; repeatable");
    return o;
}

options::options_description program_options() {
    options::options_description o(
        "a source with a kernel (FILE.cl, .hip or .cu), which is compiled and takes the options above, or a program of "
        "`fabricvp cc --target linux` on a machine that boots Linux, its arguments behind -- (`fabricvp run linux_gpu "
        "--program FILE --help` says which options it takes)");
    const auto text = [](const char* value) { return options::value<arguments>()->value_name(value); };
    o.add_options()("program", text("FILE"), "the source, or the program; programs are repeatable")(
        "define", text("NAME[=VALUE]"), "source: macro; repeatable")(
        "include", text("DIR"), "source: folder of headers; repeatable")("block", text("N[xM[xK]]"),
                                                                         "source: as --group")(
        "wavefront", text("LANES"), "source: lanes of a wavefront, 32 or 64 (default: 32 for .cu, else 64)")(
        "heap", text("SIZE"), "source: what malloc() in kernels gives out (default: 8 MiB)")(
        "recursion", text("DEPTH"), "source: how often a function that calls itself can be active at the same time")(
        "file", text("FILE[=/PATH]"), "program: a file beside it, or at a path of its own; repeatable")(
        "env", text("NAME=VALUE"), "program: a variable of its environment; repeatable")(
        "collect", text("PATTERN"), "program: files that it has written, by a pattern of their names; repeatable")(
        "into", text("DIR"), "program: where they come, in place of DIR/files of --out")(
        "peer-memory", "program: load a kernel module by which other devices reach the GPUs' memory");
    return o;
}

void check_program_options(const options::variables_map& given) {
    if (given.count("program"))
        throw input_error("--program: the command of the Python package runs programs, not this one");
    const auto known = program_options();
    for (const auto& option : known.options()) {
        if (!given.count(option->long_name())) continue;
        const bool of_source = option->description().compare(0, 7, "source:") == 0;
        throw input_error(fmt::format("--{} needs --program FILE, {}", option->long_name(),
                                      of_source ? "a source with a kernel" : "a program for Linux"));
    }
}

std::optional<kernel_launch> kernel_launch_of(const options::variables_map& given, const app_options& spread) {
    if (!given.count("kernel-elf")) {
        for (const char* name : names)
            if (given.count(name)) throw input_error(fmt::format("--{} needs --kernel-elf", name));
        return std::nullopt;
    }
    for (const char* name : others)
        if (given.count(name)) throw input_error(fmt::format("--kernel-elf goes without --{}", name));
    kernel_job_request r;
    const auto path = text_option(given, "kernel-elf");
    r.elf = read_file(path, std::size_t{1} << 28);
    if (r.elf.compare(0, 4,
                      "\x7f"
                      "ELF") != 0)
        throw input_error(fmt::format("--kernel-elf {}: is no ELF file", quoted(path)));
    r.kernel = text_option(given, "kernel-name");
    if (given.count("grid")) r.items = parse_grid(text_option(given, "grid"), "--grid");
    r.group = given.count("group") ? parse_grid(text_option(given, "group"), "--group") : default_group(r.items);
    add_spread(r, spread);
    if (given.count("arg")) add_kernel_arguments(r, given["arg"].as<arguments>());
    if (given.count("locality")) {
        if (r.gpu || (spread.placement != "lasp" && spread.dispatch != "lasp"))
            throw input_error("--locality has no effect without --gpus N and --placement lasp or --dispatch lasp");
        add_localities(r, given["locality"].as<arguments>());
    }
    if (given.count("lds"))
        r.lds_bytes = static_cast<std::uint32_t>(parse_size(text_option(given, "lds"), "--lds", 1 << 20));
    const auto job = make_kernel_job(r);
    kernel_launch launch;
    launch.lds_bytes = r.lds_bytes;
    launch.images.firmware = "firmware:gpu_apps.elf";
    launch.images.append = "app=kernel";
    if (!r.gpu) launch.images.append += fmt::format(" gpus={}", spread.gpus);
    launch.images.initrd = file_of_bytes(job.bytes);
    for (std::size_t i = 0; i < r.buffers.size(); ++i)
        if (!r.buffers[i].file.empty())
            launch.outputs.push_back({r.buffers[i].file, job.contents[i],
                                      r.buffers[i].always ? r.buffers[i].contents.size() : r.buffers[i].bytes,
                                      r.buffers[i].held, r.buffers[i].always});
    return launch;
}

void write_kernel_outputs(platform& p, const std::vector<kernel_output>& outputs) {
    if (outputs.empty() || !p.has(0)) return;
    const auto disk = p.hardware().nodes[0]->host.initrd().first;
    const auto read = [&](std::uint64_t offset, std::uint64_t bytes) {
        std::string contents(bytes, '\0');
        p.read_memory(0, disk + offset, contents.data(), bytes);
        return contents;
    };
    const auto state = read_kernel_job(read(0, kernel_job_head_bytes())).state;
    for (const auto& o : outputs)
        if (state == KERNEL_JOB_DONE || (state == KERNEL_JOB_FAULT && o.always))
            write_file(o.file, read(o.offset, o.bytes));
        else if (!o.always)
            fmt::print(stderr, "fabricvp: {} is not written: the kernel has not ended well\n", quoted(o.file));
}

}  // namespace fabricvp::cli
