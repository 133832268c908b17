// SPDX-License-Identifier: Apache-2.0
#include "platform/config/plugins.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include <dlfcn.h>
#include <elf.h>

#include <fmt/format.h>

#include "base/kind_registry.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/config/config_tree.h"
#include "platform/params/device_params.h"
#include "platform/plugin.h"

namespace fabricvp {
namespace {

constexpr std::size_t max_file = std::size_t{1} << 30;

[[noreturn]] void reject(const std::string& file, const std::string& why) {
    throw input_error(fmt::format("{}: {}", file, why));
}

/// A plug-in's file as far as its stamp needs it.
class shared_object {
public:
    shared_object(std::string_view contents, const std::string& file) : m_contents(contents) {
        if (contents.size() < sizeof(Elf64_Ehdr) || std::memcmp(contents.data(), ELFMAG, SELFMAG) != 0)
            reject(file, "is no plug-in: it is no shared library");
        m_header = *at<Elf64_Ehdr>(0);
        if (m_header.e_ident[EI_CLASS] != ELFCLASS64 || m_header.e_machine != own_machine())
            reject(file, "is no plug-in for this computer: it is a shared library or program of another processor");
        if (m_header.e_type != ET_DYN) reject(file, "is no plug-in: it is a program or object file, no shared library");
    }

    /// Contents of a section; none where there is no such section, or the file is cut short.
    std::optional<std::string_view> section(std::string_view name) const {
        const auto names = header(m_header.e_shstrndx);
        if (!names) return std::nullopt;
        for (unsigned i = 0; i < m_header.e_shnum; ++i) {
            const auto section = header(i);
            if (!section || text(names->sh_offset + section->sh_name) != name) continue;
            if (section->sh_type == SHT_NOBITS || !has(section->sh_offset, section->sh_size)) return std::nullopt;
            return m_contents.substr(section->sh_offset, section->sh_size);
        }
        return std::nullopt;
    }

private:
    static Elf64_Half own_machine() {
#if defined(__x86_64__)
        return EM_X86_64;
#elif defined(__aarch64__)
        return EM_AARCH64;
#elif defined(__riscv)
        return EM_RISCV;
#else
#error "name the ELF machine of this processor"
#endif
    }

    bool has(std::uint64_t offset, std::uint64_t size) const {
        return offset <= m_contents.size() && size <= m_contents.size() - offset;
    }

    template <class T>
    std::optional<T> at(std::uint64_t offset) const {
        if (!has(offset, sizeof(T))) return std::nullopt;
        T value;
        std::memcpy(&value, m_contents.data() + offset, sizeof(T));
        return value;
    }

    std::optional<Elf64_Shdr> header(unsigned index) const {
        if (m_header.e_shentsize != sizeof(Elf64_Shdr) || index >= m_header.e_shnum) return std::nullopt;
        return at<Elf64_Shdr>(m_header.e_shoff + index * sizeof(Elf64_Shdr));
    }

    std::string_view text(std::uint64_t offset) const {
        if (offset >= m_contents.size()) return {};
        const auto rest = m_contents.substr(offset);
        return rest.substr(0, rest.find('\0'));
    }

    std::string_view m_contents;
    Elf64_Ehdr m_header{};
};

/// The first property in which two stamps differ. \returns one line, empty where they are the same
std::string difference(const std::string& its, const std::string& own) {
    std::istringstream theirs(its), ours(own);
    for (std::string there, here; std::getline(ours, here);) {
        if (!std::getline(theirs, there)) there.clear();
        if (there == here) continue;
        if (here.rfind("headers ", 0) == 0) return "was built with other headers of this version: build it again";
        return fmt::format("was built with {}, this program with {}: build it again", there.empty() ? "less" : there,
                           here);
    }
    return {};
}

/// A program that contains the models has registries of its own, which a plug-in would not find.
void check_program(const std::string& file) {
    const auto name = std::filesystem::path(library_file()).filename().string();
    if (name.rfind("libfabricvp", 0) != 0)
        reject(file, "cannot be loaded: this program is not linked with the library that plug-ins use");
}

void check_stamp(const std::string& file) {
    const auto contents = read_file(file, max_file);
    const auto stamp = shared_object(contents, file).section(FABRICVP_PLUGIN_SECTION);
    if (!stamp) reject(file, "is no plug-in: it has no FABRICVP_PLUGIN() that registers kinds");
    if (const auto how = difference(std::string(stamp->substr(0, stamp->find('\0'))), FABRICVP_PLUGIN_STAMP);
        !how.empty())
        reject(file, how);
}

std::vector<std::string>& loaded() {
    static std::vector<std::string> files;
    return files;
}

std::function<void(const std::string&)>& script_loader() {
    static std::function<void(const std::string&)> load;
    return load;
}

/// Of a shared library.
void (*entry_of(const std::string& path))() {
    check_stamp(path);
    check_program(path);
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::string why = dlerror();
        if (why.rfind(path + ": ", 0) == 0) why.erase(0, path.size() + 2);
        reject(path, "cannot be loaded: " + why);
    }
    const auto entry = reinterpret_cast<void (*)()>(dlsym(library, FABRICVP_TEXT(FABRICVP_PLUGIN_ENTRY)));
    if (!entry) reject(path, "is no plug-in: it has no FABRICVP_PLUGIN() that registers kinds");
    return entry;
}

/// What registers the kinds of a plug-in.
std::function<void()> registration_of(const std::string& path) {
    if (std::filesystem::path(path).extension() != ".py") return entry_of(path);
    if (!script_loader()) reject(path, "is written in Python: the `fabricvp` of the Python package loads it");
    return [path] { script_loader()(path); };
}

}  // namespace

void set_script_loader(std::function<void(const std::string& path)> load) { script_loader() = std::move(load); }

const std::vector<std::string>& loaded_plugins() { return loaded(); }

std::string library_file() {
    Dl_info self{};
    return dladdr(reinterpret_cast<const void*>(&library_file), &self) && self.dli_fname ? self.dli_fname : "";
}

void load_plugin(const std::string& file) {
    register_device_kinds();  // whose names a plug-in must not take
    std::error_code missing;
    const auto path = std::filesystem::canonical(file, missing).string();
    if (missing) reject(file, missing == std::errc::no_such_file_or_directory ? "no such file" : missing.message());
    if (std::count(loaded().begin(), loaded().end(), path)) return;
    const auto entry = registration_of(path);
    const auto before = kinds_added();
    try {
        entry();
    } catch (const std::exception& why) {
        reject(path, fmt::format("cannot be loaded: {}", why.what()));
    }
    if (kinds_added() == before) reject(path, "registers no kind");
    loaded().push_back(path);
}

std::vector<std::string> plugins_of(const config_tree& tree, const std::string& file) {
    std::vector<std::string> files;
    const auto* list = tree.find("plugins");
    if (!list) return files;
    const auto check = [](bool right, const config_tree& at, const char* must) {
        if (!right) throw input_error(fmt::format("{}: plugins: must be {}", at.origin, must));
    };
    check(list->kind == config_tree::shape::sequence, *list, "a list of files, each a plug-in");
    for (const auto& item : list->items) {
        check(item.kind == config_tree::shape::scalar && !item.text.empty(), item, "the file of a plug-in");
        files.push_back((std::filesystem::path(file).parent_path() / item.text).string());
    }
    return files;
}

void load_plugins_of(config_tree& tree, const std::string& file) {
    const auto files = plugins_of(tree, file);
    const auto found =
        std::find_if(tree.entries.begin(), tree.entries.end(), [](const auto& e) { return e.key == "plugins"; });
    for (std::size_t i = 0; i < files.size(); ++i) try {
            load_plugin(files[i]);
        } catch (const input_error& why) {
            throw input_error(fmt::format("{}: plugins: {}", found->value.items[i].origin, why.what()));
        }
    if (found != tree.entries.end()) tree.entries.erase(found);
}

}  // namespace fabricvp
