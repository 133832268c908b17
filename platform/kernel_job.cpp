// SPDX-License-Identifier: Apache-2.0
#include "platform/kernel_job.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "abi/gpu.h"
#include "abi/kernel_job.h"
#include "base/parameters.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"

namespace fabricvp {
namespace {

constexpr std::size_t max_arguments = KERNEL_JOB_MAX_ARGUMENT_BYTES;
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 32;
constexpr std::uint32_t ladm_rows = 7;
constexpr std::uint64_t max_pitch = std::uint64_t{1} << 40;
constexpr std::size_t page = 4096;  // so that copies of buffers begin where lines do

void align(std::string& bytes, std::size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); }

std::uint64_t append(std::string& bytes, const std::string& what, std::size_t alignment) {
    align(bytes, alignment);
    const auto at = bytes.size();
    bytes += what;
    return at;
}

void check(const kernel_job_request& r) {
    if (r.elf.compare(0, 4,
                      "\x7f"
                      "ELF") != 0)
        throw input_error("the kernel is no ELF file");
    if (r.kernel.find('\0') != std::string::npos)
        throw input_error(fmt::format("kernel {}: no name has a zero", quoted(r.kernel)));
    std::uint64_t items = 1;
    for (unsigned d = 0; d < 3; ++d) {
        if (!r.items[d] || !r.group[d]) throw input_error("grid and work-group: each size is 1 or more");
        items *= std::min<std::uint64_t>(r.group[d], GPU_MAX_WORKGROUP_ITEMS + 1);
    }
    if (items > GPU_MAX_WORKGROUP_ITEMS)
        throw input_error(fmt::format("a work-group has at most {} work-items", GPU_MAX_WORKGROUP_ITEMS));
    if (r.arguments.size() > max_arguments)
        throw input_error(fmt::format("{} bytes of arguments: at most {}", r.arguments.size(), max_arguments));
    std::uint64_t all = 0;
    for (const auto& b : r.buffers) {
        if (!b.bytes || b.bytes > max_bytes)
            throw input_error(fmt::format("a buffer of {} bytes: 1 to {}", b.bytes, max_bytes));
        all += b.bytes;
    }
    for (const auto& b : r.buffers)
        if (b.row > ladm_rows || b.pitch > max_pitch)
            throw input_error(
                fmt::format("a buffer in row {} of LADM's table, of {} bytes: rows are 0 to {}, of up to {}", b.row,
                            b.pitch, ladm_rows, max_pitch));
    if (all > max_bytes) throw input_error(fmt::format("buffers of {} bytes: at most {} in all", all, max_bytes));
}

template <class T>
std::string raw(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

template <class T>
std::string number(const std::string& text, const std::string& all) {
    T value{};
    const auto end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc() || stop != end)
        throw input_error(fmt::format("--arg {}: not such a number", quoted(all)));
    return raw(value);
}

kernel_job_request::buffer buffer_argument(const std::string& kind, const std::string& value, const std::string& text) {
    kernel_job_request::buffer b;
    if (kind == "zeros") {
        b.bytes = parse_size(value, "--arg zeros:", max_bytes);
        return b;
    }
    auto path = value;
    if (kind == "out" || kind == "block") {
        const auto colon = value.find(':');
        if (colon == std::string::npos)
            throw input_error(fmt::format("--arg {}: must be out:SIZE:PATH, such as out:16KiB:c.bin", quoted(text)));
        b.bytes = parse_size(value.substr(0, colon), "--arg out:", max_bytes);
        path = value.substr(colon + 1);
        if (kind == "block") b.contents = read_file(path, b.bytes);
    } else {
        b.contents = read_file(path, max_bytes);
        b.bytes = b.contents.size();
    }
    b.always = kind == "block";
    b.out = kind == "out" || kind == "inout" || b.always;
    if (!b.out) return b;
    if (path.empty()) throw input_error(fmt::format("--arg {}: the file's name is missing", quoted(text)));
    b.held = check_writable(path);
    b.file = path;
    return b;
}

}  // namespace

kernel_job_image make_kernel_job(const kernel_job_request& r) {
    check(r);
    kernel_job_image image;
    kernel_job job{};
    std::vector<kernel_job_buffer> table(r.buffers.size());
    image.bytes.resize(sizeof job);
    job.magic = KERNEL_JOB_MAGIC;
    job.flags = r.keep ? KERNEL_JOB_WAIT_FOR_NEXT : 0;
    job.gpu = r.gpu.value_or(KERNEL_JOB_ALL_GPUS);
    std::copy(r.items.begin(), r.items.end(), job.items);
    std::copy(r.group.begin(), r.group.end(), job.group);
    job.lds_bytes = r.lds_bytes;
    job.cooperative = r.cooperative;
    job.argument_bytes = static_cast<std::uint32_t>(r.arguments.size());
    job.arguments = append(image.bytes, r.arguments, 8);
    job.elf = append(image.bytes, r.elf, 8);
    job.elf_bytes = r.elf.size();
    if (!r.kernel.empty()) job.kernel = append(image.bytes, r.kernel + '\0', 1);
    job.stream = r.stream;
    job.after = r.after;
    job.placement = r.placement;
    job.dispatch = r.dispatch;
    job.buffer_count = static_cast<std::uint32_t>(table.size());
    job.buffers = append(image.bytes, std::string(table.size() * sizeof(kernel_job_buffer), '\0'), 8);
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto& b = r.buffers[i];
        auto& entry = table[i];
        entry.bytes = b.bytes;
        entry.argument = b.argument;
        entry.flags = (b.contents.empty() ? 0u : unsigned{KERNEL_JOB_IN}) | (b.out ? unsigned{KERNEL_JOB_OUT} : 0u) |
                      (b.keep ? unsigned{KERNEL_JOB_KEEP} : 0u) | (b.always ? unsigned{KERNEL_JOB_ALWAYS} : 0u);
        entry.place = b.place;
        entry.row = b.row;
        entry.pitch = b.pitch;
        entry.datablock = b.datablock;
        const bool part = !b.contents.empty() && b.contents.size() < b.bytes;
        if (b.kept) {
            entry.flags |= KERNEL_JOB_KEPT;
            entry.address = b.kept->address;
            entry.contents = std::uint64_t{b.kept->job} << 32 | b.kept->buffer;
        } else if (entry.flags & (KERNEL_JOB_IN | KERNEL_JOB_OUT) || b.place == KERNEL_JOB_PLACE_HOST) {
            if (part) entry.content_bytes = b.contents.size();
            entry.contents = append(image.bytes, b.contents, page);
            image.bytes.resize(entry.contents + (part ? entry.content_bytes : b.bytes));
        }
        image.contents.push_back(entry.contents);
        image.addresses.push_back(job.buffers + i * sizeof entry + offsetof(kernel_job_buffer, address));
    }
    align(image.bytes, page);
    job.bytes = image.bytes.size();
    job.state = KERNEL_JOB_READY;
    std::memcpy(image.bytes.data(), &job, sizeof job);
    if (!table.empty()) std::memcpy(image.bytes.data() + job.buffers, table.data(), table.size() * sizeof table[0]);
    return image;
}

kernel_job_result read_kernel_job(const std::string& head) {
    kernel_job job{};
    std::memcpy(&job, head.data(), std::min(head.size(), sizeof job));
    return {job.state, job.fault, job.nanoseconds, job.start_ns, job.end_ns};
}

std::size_t kernel_job_head_bytes() { return sizeof(kernel_job); }
std::size_t kernel_job_state_offset() { return offsetof(kernel_job, state); }

void add_localities(kernel_job_request& r, const std::vector<std::string>& texts) {
    if (texts.size() > r.buffers.size())
        throw input_error(
            fmt::format("{} times --locality, and {} arguments are buffers", texts.size(), r.buffers.size()));
    for (std::size_t i = 0; i < texts.size(); ++i) {
        std::uint64_t parts[3] = {};
        const auto end = texts[i].data() + texts[i].size();
        bool valid = true, more = true;
        auto at = texts[i].data();
        for (unsigned n = 0; n < 3 && more && valid; ++n) {
            const auto [stop, error] = std::from_chars(at, end, parts[n]);
            more = stop != end && *stop == ':';
            valid = error == std::errc() && (more || stop == end);
            at = stop + more;
        }
        valid = valid && !more && parts[0] <= ladm_rows && parts[1] <= max_pitch &&
                parts[2] <= std::numeric_limits<std::uint32_t>::max();
        if (!valid)
            throw input_error(fmt::format(
                "--locality {}: must be ROW[:PITCH[:DATABLOCK]], a row of LADM's table from 1 to {}, and bytes, or 0",
                quoted(texts[i]), ladm_rows));
        r.buffers[i].row = static_cast<std::uint32_t>(parts[0]);
        r.buffers[i].pitch = parts[1];
        r.buffers[i].datablock = static_cast<std::uint32_t>(parts[2]);
    }
}

void add_kernel_arguments(kernel_job_request& r, const std::vector<std::string>& texts) {
    std::size_t max = 1;  // alignment of a member, and so of the struct
    for (const auto& text : texts) {
        const auto colon = text.find(':');
        const auto kind = text.substr(0, colon),
                   value = colon == std::string::npos ? std::string() : text.substr(colon + 1);
        std::string bytes;
        if (kind == "u32")
            bytes = number<std::uint32_t>(value, text);
        else if (kind == "i32")
            bytes = number<std::int32_t>(value, text);
        else if (kind == "u64")
            bytes = number<std::uint64_t>(value, text);
        else if (kind == "i64")
            bytes = number<std::int64_t>(value, text);
        else if (kind == "f32")
            bytes = number<float>(value, text);
        else if (kind == "f64")
            bytes = number<double>(value, text);
        else if (kind == "zeros" || kind == "file" || kind == "in" || kind == "inout" || kind == "out" ||
                 kind == "block") {
            auto b = buffer_argument(kind, value, text);
            for (const auto& other : r.buffers)
                if (!b.file.empty() && !other.file.empty() && is_same_file(other.file, b.file))
                    throw input_error(fmt::format("--arg {}: another buffer goes into that file", quoted(text)));
            bytes.resize(8);
            align(r.arguments, 8);
            b.argument = r.arguments.size();
            r.buffers.push_back(std::move(b));
        } else {
            throw input_error(fmt::format(
                "--arg {}: must be u32:N, i32:N, u64:N, i64:N, f32:X, f64:X, zeros:SIZE, in:PATH, inout:PATH "
                "or out:SIZE:PATH",
                quoted(text)));
        }
        append(r.arguments, bytes, bytes.size());
        max = std::max(max, bytes.size());
    }
    align(r.arguments, max);
}

std::uint64_t parse_size(const std::string& text, const char* option, std::uint64_t max) {
    byte_size value;
    parameter p(option, "", parameter_kind::byte_size, &value);
    try {
        p.parse(text);
    } catch (const std::invalid_argument& e) {
        throw input_error(fmt::format("{} {}: {}", option, quoted(text), e.what()));
    }
    if (value > max) throw input_error(fmt::format("{} {}: at most {} bytes", option, quoted(text), max));
    return value;
}

std::array<std::uint32_t, 3> parse_grid(const std::string& text, const char* option) {
    std::array<std::uint32_t, 3> sizes{1, 1, 1};
    const auto reject = [&] {
        throw input_error(fmt::format("{} {}: must be N, NxM or NxMxK, each 1 to {}", option, quoted(text),
                                      std::numeric_limits<std::uint32_t>::max()));
    };
    const char *at = text.data(), *end = at + text.size();
    for (unsigned d = 0;; ++d) {
        if (d == 3) reject();
        const auto [stop, error] = std::from_chars(at, end, sizes[d]);
        if (error != std::errc() || !sizes[d]) reject();
        if (stop == end) return sizes;
        if (*stop != 'x') reject();
        at = stop + 1;
    }
}

constexpr std::string_view own_files = "/proc/self/fd/";

std::string file_of_bytes(const std::string& bytes, std::size_t size) {
    const int file = memfd_create("fabricvp", MFD_CLOEXEC);
    for (std::size_t done = 0; file >= 0 && done < bytes.size();) {
        const auto n = write(file, bytes.data() + done, bytes.size() - done);
        if (n <= 0)
            throw input_error(fmt::format("a job of {} bytes cannot be kept: {}", bytes.size(), std::strerror(errno)));
        done += static_cast<std::size_t>(n);
    }
    if (file < 0 || (size > bytes.size() && ftruncate(file, static_cast<off_t>(size))))
        throw input_error(fmt::format("a job cannot be kept: {}", std::strerror(errno)));
    return fmt::format("{}{}", own_files, file);
}

bool is_file_of_bytes(const std::string& path) { return path.compare(0, own_files.size(), own_files) == 0; }

}  // namespace fabricvp
