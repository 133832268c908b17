// SPDX-License-Identifier: Apache-2.0
#include "platform/common/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/common/input_error.h"

namespace fabricvp {
namespace {

namespace fs = std::filesystem;

/// A file under a temporary name; removed again unless it is published.
class pending_file {
public:
    pending_file(fs::path final_path, const std::string& contents) : pending_file(std::move(final_path)) {
        write([&](std::ostream& out) { out.write(contents.data(), static_cast<std::streamsize>(contents.size())); });
    }
    static pending_file copy(fs::path final_path, const std::string& source) {
        pending_file made(std::move(final_path));
        std::ifstream in(source, std::ios::binary);
        if (in.peek() == std::ifstream::traits_type::eof())
            made.write([](std::ostream&) {});
        else
            made.write([&](std::ostream& out) { out << in.rdbuf(); });
        return made;
    }
    pending_file(pending_file&& other) noexcept
        : m_final(std::move(other.m_final)), m_temporary(std::exchange(other.m_temporary, {})) {}
    ~pending_file() { remove(); }

    void publish() {
        std::error_code error;
        fs::rename(m_temporary, m_final, error);
        if (error) throw input_error(fmt::format("{}: cannot write: {}", m_final.string(), error.message()));
        m_temporary.clear();
    }

private:
    explicit pending_file(fs::path final_path) : m_final(std::move(final_path)), m_temporary(m_final) {
        m_temporary += fmt::format(".{}.tmp", ::getpid());
    }

    template <class Fill>
    void write(Fill fill) {
        errno = 0;
        std::ofstream out(m_temporary, std::ios::binary | std::ios::trunc);
        if (out) fill(out);
        out.close();
        if (out) return;
        const auto why = errno;
        remove();
        throw_unwritable(m_final.string(), why ? why : EIO);
    }

    void remove() {
        std::error_code ignored;
        if (!m_temporary.empty()) fs::remove(m_temporary, ignored);
    }

    fs::path m_final, m_temporary;
};

}  // namespace

std::string read_file(const std::string& path, std::size_t max_bytes) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (!fs::exists(status)) throw input_error(path + ": no such file");
    if (fs::is_directory(status)) throw input_error(path + ": is a folder, not a file");
    if (!fs::is_regular_file(status)) throw input_error(path + ": is not a regular file");
    const auto size = fs::file_size(path, error);
    if (error) throw input_error(fmt::format("{}: cannot read: {}", path, error.message()));
    if (size > max_bytes) throw input_error(fmt::format("{}: too large ({} bytes, at most {})", path, size, max_bytes));
    std::ifstream in(path, std::ios::binary);
    std::string contents(size, '\0');
    in.read(contents.data(), static_cast<std::streamsize>(size));
    if (!in) throw input_error(fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
    return contents;
}

void write_file(const std::string& path, const std::string& contents) {
    std::error_code ignored;
    const auto status = fs::status(path, ignored);
    if (!fs::is_other(status) && !fs::is_fifo(status) && !fs::is_character_file(status))
        return pending_file(path, contents).publish();
    // FIFOs and devices are written to; a rename would put a file in their place.
    std::ofstream out(path, std::ios::binary);
    if (!out || !out.write(contents.data(), static_cast<std::streamsize>(contents.size())) || !out.flush())
        throw_unwritable(path, errno);
}

void throw_unwritable(const std::string& path, int error) {
    throw input_error(fmt::format("{}: cannot write: {}", path, std::strerror(error)));
}

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    const auto status = fs::status(a, error);
    if (fs::exists(status)) return fs::is_regular_file(status) && fs::equivalent(a, b, error);
    const auto first = fs::weakly_canonical(fs::absolute(a, error), error);
    const auto second = fs::weakly_canonical(fs::absolute(b, error), error);
    return !first.empty() && first == second;
}

held_file check_writable(const std::string& path) {
    std::error_code ignored;
    const auto status = fs::status(path, ignored);
    if (fs::is_directory(status)) throw_unwritable(path, EISDIR);
    if (fs::exists(status)) {
        const int file = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (file < 0 && errno == ENXIO) throw input_error(path + ": cannot write: nothing reads this FIFO");
        if (file < 0) throw_unwritable(path, errno);
        const held_file held(nullptr, [file](void*) { ::close(file); });
        return fs::is_fifo(status) ? held : nullptr;
    }
    auto folder = fs::path(path).parent_path();
    if (folder.empty()) folder = ".";
    if (!fs::is_directory(folder, ignored)) throw_unwritable(path, ENOENT);
    if (::access(folder.c_str(), W_OK | X_OK) != 0) throw_unwritable(path, errno);
    return nullptr;
}

void make_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder))
        throw input_error(fmt::format("{}: cannot make this folder: {}", folder,
                                      error ? error.message() : std::string("a file of that name is in the way")));
}

void write_files(const std::string& folder, const std::vector<std::pair<std::string, std::string>>& files,
                 const std::map<std::string, std::string>& copies) {
    make_folder(folder);
    std::vector<pending_file> pending;
    pending.reserve(files.size() + copies.size());
    for (const auto& [name, contents] : files) pending.emplace_back(fs::path(folder) / name, contents);
    for (const auto& [name, source] : copies) pending.push_back(pending_file::copy(fs::path(folder) / name, source));
    for (auto& file : pending) file.publish();
}

}  // namespace fabricvp
