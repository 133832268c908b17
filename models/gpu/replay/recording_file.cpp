// SPDX-License-Identifier: Apache-2.0
#include "gpu/replay/recording_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>
#include <zlib.h>

#include <fmt/format.h>

namespace fabricvp::gpu::replay {

namespace {

constexpr char magic[] = "fabricvp recording\n";
constexpr std::size_t magic_bytes = sizeof magic - 1, block_head = 13;
constexpr std::size_t chunk = 1 << 20, max_block = 1u << 30;

std::string word(std::uint64_t n) {
    std::string bytes;
    for (unsigned i = 0; i < 4; ++i) bytes += static_cast<char>(n >> 8 * i);
    return bytes;
}

std::uint32_t word_at(const char* at) {
    std::uint32_t n = 0;
    for (unsigned i = 0; i < 4; ++i) n |= std::uint32_t{static_cast<unsigned char>(at[i])} << 8 * i;
    return n;
}

/// Of a block's letter and sizes, and of its compressed contents.
std::uint32_t checksum(const char* head, const std::string& stored) {
    const auto first = crc32(0, reinterpret_cast<const Bytef*>(head), block_head - 4);
    return static_cast<std::uint32_t>(
        crc32(first, reinterpret_cast<const Bytef*>(stored.data()), static_cast<uInt>(stored.size())));
}

/// Reads block by block.
class block_reader {
public:
    explicit block_reader(const std::string& path) : m_file(std::fopen(path.c_str(), "rb")) {
        if (!m_file) throw recording_error(fmt::format("cannot be read: {}", std::strerror(errno)));
        char start[magic_bytes + 4] = {};
        const auto got = std::fread(start, 1, sizeof start, m_file);
        if (std::ferror(m_file)) reject(fmt::format("cannot be read: {}", std::strerror(errno)));
        if (got < magic_bytes || std::memcmp(start, magic, magic_bytes) != 0) reject("is no recording");
        if (got < sizeof start) reject("is cut short");
        if (const auto v = word_at(start + magic_bytes); v != recording_head::version)
            reject(fmt::format("is a recording of version {}; this is version {}: record again", v,
                               recording_head::version));
    }
    ~block_reader() {
        if (m_file) std::fclose(m_file);
    }
    block_reader(const block_reader&) = delete;
    block_reader& operator=(const block_reader&) = delete;

    char next(std::string& contents) {
        char head[block_head];
        if (std::fread(head, 1, sizeof head, m_file) != sizeof head) throw recording_error("is cut short");
        const std::size_t size = word_at(head + 1), stored = word_at(head + 5);
        if (size > max_block || stored > max_block) throw_corrupted();
        m_stored.resize(stored);
        if (std::fread(m_stored.data(), 1, stored, m_file) != stored) throw recording_error("is cut short");
        if (checksum(head, m_stored) != word_at(head + 9)) throw_corrupted();
        contents.resize(size);
        uLongf got = size;
        if (uncompress(reinterpret_cast<Bytef*>(contents.data()), &got, reinterpret_cast<const Bytef*>(m_stored.data()),
                       stored) != Z_OK ||
            got != size)
            throw_corrupted();
        return head[0];
    }
    bool at_end() { return std::fgetc(m_file) == EOF; }

private:
    [[noreturn]] void reject(const std::string& why) {
        std::fclose(m_file);
        m_file = nullptr;
        throw recording_error(why);
    }
    std::FILE* m_file;
    std::string m_stored;
};

recording_head parse_head(const std::string& bytes) {
    const char *at = bytes.data(), *end = at + bytes.size();
    recording_head h;
    h.machine = get_text(at, end);
    h.software = get_text(at, end);
    h.label = get_text(at, end);
    h.time = get(at, end);
    h.unattributed = get(at, end);
    return h;
}

void parse_transactions(const char* at, const char* end, recording& r) {
    std::uint64_t line = 0;
    while (at != end) {
        transaction t;
        const auto kind = get_as<std::uint8_t>(at, end);
        t.kind = static_cast<access_kind>(kind & 7);
        t.fetch = kind & 8;
        t.page_table = kind & 16;
        t.read_critical = kind & 32;
        t.gpu = get_as<std::uint8_t>(at, end);
        t.line = line += static_cast<std::uint64_t>(unzigzag(get(at, end))) * line_bytes;
        t.service = get_as<std::uint32_t>(at, end);
        t.sectors = get_as<std::uint8_t>(at, end);
        if (t.fetch) t.cache = get_as<std::uint16_t>(at, end);
        if (t.kind != access_kind::read && t.kind != access_kind::write) t.operands = get_as<std::uint8_t>(at, end);
        if (t.page_table) t.offset = get_as<std::uint8_t>(at, end);
        r.transactions.push_back(t);
    }
}

void parse_walks(const char* at, const char* end, recording& r) {
    while (at != end) {
        walk w;
        w.gpu = get_as<std::uint8_t>(at, end);
        const auto steps = get(at, end);
        if (steps > 64) throw_corrupted();
        for (std::uint64_t i = 0; i < steps; ++i) {
            const auto delay = get_as<std::uint32_t>(at, end);
            w.steps.push_back({delay, get_as<std::uint32_t>(at, end)});
        }
        w.tail = get_as<std::uint32_t>(at, end);
        r.walks.push_back(std::move(w));
    }
}

void parse_streams(const char* at, const char* end, recording& r) {
    while (at != end) {
        stream s;
        s.launch = get_as<std::uint32_t>(at, end);
        s.group = get_as<std::uint32_t>(at, end);
        s.wavefront = get_as<std::uint32_t>(at, end);
        s.items = get_text(at, end);
        r.streams.push_back(std::move(s));
    }
}

void parse_launches(const char* at, const char* end, recording& r) {
    const auto launches = get(at, end);
    for (std::uint64_t i = 0; i < launches; ++i) {
        launch l;
        l.gpu = get_as<std::uint8_t>(at, end);
        l.groups = get_as<std::uint32_t>(at, end);
        l.group_wavefronts = get_as<std::uint32_t>(at, end);
        l.lds_bytes = get_as<std::uint32_t>(at, end);
        l.scratch_areas = get_as<std::uint32_t>(at, end);
        r.launches.push_back(l);
    }
    const auto events = get(at, end);
    for (std::uint64_t i = 0; i < events; ++i) {
        host_event h;
        const auto what = get(at, end);
        if (what > 1) throw_corrupted();
        h.what = static_cast<host_event::action>(what);
        h.number = get_as<std::uint32_t>(at, end);
        h.delay = get(at, end);
        const auto after = get(at, end);
        for (std::uint64_t n = 0; n < after; ++n) h.after.push_back(get_as<std::uint32_t>(at, end));
        r.host.push_back(std::move(h));
    }
    // Of machines with wavefronts of one size there is no such list.
    for (std::size_t i = 0; at != end && i < r.launches.size(); ++i) {
        r.launches[i].lanes = get_as<std::uint32_t>(at, end);
        if (r.launches[i].lanes != 32 && r.launches[i].lanes != wavefront_lanes) throw_corrupted();
    }
    if (at != end) throw_corrupted();
}

}  // namespace

recording_writer::recording_writer(const std::string& path)
    : m_path(path), m_part(fmt::format("{}.{}.tmp", path, ::getpid())), m_file(std::fopen(m_part.c_str(), "wb")) {
    if (!m_file) throw recording_error(fmt::format("cannot be written: {}", std::strerror(errno)));
    raw(std::string(magic, magic_bytes) + word(recording_head::version));
}

recording_writer::~recording_writer() {
    if (!m_file) return;
    std::fclose(m_file);
    std::remove(m_part.c_str());
}

void recording_writer::raw(const std::string& bytes) {
    // Most blocks are written amid a callback, which must not throw: finish() tells.
    if (!m_error && std::fwrite(bytes.data(), 1, bytes.size(), m_file) != bytes.size()) m_error = errno ? errno : EIO;
    m_written += bytes.size();
}

void recording_writer::block(char letter, const std::string& contents) {
    uLongf size = compressBound(static_cast<uLong>(contents.size()));
    std::string stored(size, '\0');
    if (compress2(reinterpret_cast<Bytef*>(stored.data()), &size, reinterpret_cast<const Bytef*>(contents.data()),
                  static_cast<uLong>(contents.size()), Z_BEST_SPEED + 3) != Z_OK)
        throw recording_error("cannot be compressed: no memory");
    stored.resize(size);
    const auto head = letter + word(contents.size()) + word(size);
    raw(head + word(checksum(head.data(), stored)));
    raw(stored);
}

void recording_writer::flush(char letter, std::string& contents, std::size_t min_bytes) {
    if (contents.size() < min_bytes || contents.empty()) return;
    block(letter, contents);
    contents.clear();
}

void recording_writer::add(const transaction& t) {
    auto& to = m_transactions;
    if (to.empty()) m_line = 0;
    put(to,
        static_cast<unsigned>(t.kind) | (t.fetch ? 8u : 0u) | (t.page_table ? 16u : 0u) | (t.read_critical ? 32u : 0u));
    put(to, t.gpu);
    put(to, zigzag(static_cast<std::int64_t>(t.line - m_line) / line_bytes));
    m_line = t.line;
    put(to, t.service);
    put(to, t.sectors);
    if (t.fetch) put(to, t.cache);
    if (t.kind != access_kind::read && t.kind != access_kind::write) put(to, t.operands);
    if (t.page_table) put(to, t.offset);
    ++m_transaction_count;
    flush('T', to, chunk);
}

void recording_writer::add(const walk& w) {
    put(m_walks, w.gpu);
    put(m_walks, w.steps.size());
    for (const auto& s : w.steps) {
        put(m_walks, s.delay);
        put(m_walks, s.read);
    }
    put(m_walks, w.tail);
    ++m_walk_count;
    flush('W', m_walks, chunk);
}

void recording_writer::add(const stream& s) {
    put(m_streams, s.launch);
    put(m_streams, s.group);
    put(m_streams, s.wavefront);
    put_text(m_streams, s.items);
    ++m_stream_count;
    flush('S', m_streams, chunk);
}

void recording_writer::finish(const recording_head& head, const std::vector<launch>& launches,
                              const std::vector<host_event>& host) {
    flush('T', m_transactions, 0);
    flush('W', m_walks, 0);
    flush('S', m_streams, 0);
    std::string h;
    put_text(h, head.machine);
    put_text(h, head.software);
    put_text(h, head.label);
    put(h, head.time);
    put(h, head.unattributed);
    block('H', h);
    std::string l;
    put(l, launches.size());
    for (const auto& each : launches)
        for (const std::uint64_t n :
             {std::uint64_t{each.gpu}, std::uint64_t{each.groups}, std::uint64_t{each.group_wavefronts},
              std::uint64_t{each.lds_bytes}, std::uint64_t{each.scratch_areas}})
            put(l, n);
    put(l, host.size());
    for (const auto& e : host) {
        put(l, static_cast<unsigned>(e.what));
        put(l, e.number);
        put(l, e.delay);
        put(l, e.after.size());
        for (const auto a : e.after) put(l, a);
    }
    if (std::any_of(launches.begin(), launches.end(), [](const launch& each) { return each.lanes != wavefront_lanes; }))
        for (const auto& each : launches) put(l, each.lanes);
    block('L', l);
    std::string e;
    for (const auto n : {m_transaction_count, m_walk_count, m_stream_count}) put(e, n);
    block('E', e);
    if (std::fclose(m_file) != 0 && !m_error) m_error = errno;
    m_file = nullptr;
    if (m_error || std::rename(m_part.c_str(), m_path.c_str()) != 0) {
        const int why = m_error ? m_error : errno;
        std::remove(m_part.c_str());
        throw recording_error(fmt::format("cannot be written: {}", std::strerror(why)));
    }
}

recording read_recording(const std::string& path) {
    block_reader file(path);
    recording r;
    r.transactions.emplace_back();
    r.walks.emplace_back();
    std::string contents;
    bool head = false, launches = false;
    for (;;) {
        const char letter = file.next(contents);
        const char *at = contents.data(), *end = at + contents.size();
        switch (letter) {
            case 'H':
                r.head = parse_head(contents);
                head = true;
                break;
            case 'T': parse_transactions(at, end, r); break;
            case 'W': parse_walks(at, end, r); break;
            case 'S': parse_streams(at, end, r); break;
            case 'L':
                parse_launches(at, end, r);
                launches = true;
                break;
            case 'E': {
                const auto t = get(at, end), w = get(at, end), s = get(at, end);
                if (!head || !launches || t + 1 != r.transactions.size() || w + 1 != r.walks.size() ||
                    s != r.streams.size() || !file.at_end())
                    throw_corrupted();
                return r;
            }
            default: throw_corrupted();
        }
    }
}

}  // namespace fabricvp::gpu::replay
