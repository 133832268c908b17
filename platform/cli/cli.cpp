// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/cli.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <set>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/cli/command.h"
#include "platform/common/input_error.h"
#include "platform/common/nearest.h"
#include "platform/common/terminal.h"
#include "platform/config/renamed_names.h"

namespace fabricvp {
namespace cli {
namespace {

arguments g_command_line, g_results;
std::vector<std::pair<std::string, std::string>> g_others;  // commands of the caller
page_server g_page_server;

std::vector<command> commands() {
    return {list_command(),      run_command(),  check_command(), describe_command(), schema_command(),
            reference_command(), diff_command(), apps_command(),  replay_command(),   version_command()};
}

/// Name and summary of all commands, those of the caller last.
std::vector<std::pair<std::string, std::string>> all_commands() {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& c : commands()) all.emplace_back(c.name, c.summary);
    all.insert(all.end(), g_others.begin(), g_others.end());
    return all;
}

std::string overview() {
    std::string text =
        "usage: fabricvp COMMAND …\n\n"
        "FabricVP simulates servers and clusters that run unmodified software.\n\ncommands:\n";
    std::size_t width = 0;
    for (const auto& [name, summary] : all_commands()) width = std::max(width, name.size());
    for (const auto& [name, summary] : all_commands())
        text += fitted(fmt::format("  {:<{}}  {}", name, width, summary), width + 4) + "\n";
    return text +
           "\n`fabricvp COMMAND --help` tells more. First steps:\n  fabricvp list                 the machines that "
           "come along\n  fabricvp run uboot            boot OpenSBI and U-Boot to a prompt (Ctrl-] leaves)\n"
           "  fabricvp describe uboot       show the machine and all its parameters\n";
}

std::string help_of(const command& c) {
    auto text = fmt::format("usage: fabricvp {} {}\n\n{}\n", c.name, c.usage, fitted(c.summary, 0));
    std::ostringstream described;
    described << c.describe();
    text += described.str();
    return text + fmt::format("\nexample: {}\n", c.example);
}

/// An empty value names nothing. Options that say by themselves what an empty value means check it themselves.
void check_values(const options::options_description& known, const options::variables_map& given) {
    static const std::set<std::string> checked_later = {"set", "firmware", "kernel", "initrd", "append"};
    for (const auto& [name, value] : given) {
        if (checked_later.count(name) || known.find(name, false).semantic()->max_tokens() == 0) continue;  // a flag
        const auto* one = boost::any_cast<std::string>(&value.value());
        const auto* several = boost::any_cast<arguments>(&value.value());
        if ((one && one->empty()) || (several && std::find(several->begin(), several->end(), "") != several->end()))
            throw input_error(fmt::format("--{}: the value is empty", name));
    }
}

/// What is wrong with an argument that no option and no place takes.
std::string surplus(const options::options_description& known, const std::string& word, const arguments& given,
                    const command& c) {
    const auto at = std::find(given.begin(), given.end(), word);
    if (at != given.begin() && at != given.end())
        for (const auto& option : known.options())
            if (at[-1] == "--" + option->long_name() && !option->semantic()->max_tokens())
                return fmt::format("{} takes no value: {} (see fabricvp {} --help)", at[-1], quoted(word), c.name);
    return fmt::format("{}: unexpected argument: usage: fabricvp {} {}", quoted(word), c.name, c.usage);
}

int execute(const command& c, const arguments& rest) {
    auto described = c.describe();
    described.add_options()("help,h", "show this help");
    options::options_description all = described;
    options::positional_options_description positional;
    for (const auto* names : {&c.positional, &c.optional})
        for (const char* name : *names) {
            all.add_options()(name, options::value<std::string>());
            positional.add(name, 1);
        }
    all.add_options()("surplus", options::value<arguments>());
    positional.add("surplus", -1);
    options::variables_map given;
    try {
        using style = options::command_line_style::style_t;
        options::store(options::command_line_parser(rest)
                           .options(all)
                           .positional(positional)
                           .style(style::unix_style & ~style::allow_guessing)
                           .run(),
                       given);
    } catch (const options::unknown_option& e) {
        std::vector<std::string> known;
        for (const auto& o : all.options()) known.push_back("--" + o->long_name());
        if (const auto name = renamed_option(e.get_option_name()); !name.empty())
            throw input_error(fmt::format("option {}", now_called(e.get_option_name(), name)));
        const auto hint = nearest_name(e.get_option_name(), known);
        throw input_error(fmt::format("unknown option {}{}", quoted(e.get_option_name()),
                                      hint.empty() ? "" : fmt::format(", did you mean '{}'?", hint)));
    } catch (const options::error& e) {
        throw input_error(fmt::format("{} (see fabricvp {} --help)", e.what(), c.name));
    }
    if (given.count("surplus")) throw input_error(surplus(all, given["surplus"].as<arguments>()[0], rest, c));
    if (given.count("help")) {
        std::fputs(help_of(c).c_str(), stdout);
        return status::ok;
    }
    check_values(all, given);
    for (const char* name : c.positional)
        if (!given.count(name))
            throw input_error(fmt::format("{} is missing: usage: fabricvp {} {}", name, c.name, c.usage));
    return c.execute(given);
}

int dispatch(const arguments& given, const arguments& typed) {
    g_command_line = {"fabricvp"};
    g_command_line.insert(g_command_line.end(), typed.begin(), typed.end());
    if (given.empty() || given[0] == "--help" || given[0] == "-h" || given[0] == "help") {
        std::fputs(overview().c_str(), stdout);
        return given.empty() ? status::bad_input : status::ok;
    }
    if (given[0] == "--version") return execute(version_command(), {});
    for (const auto& c : commands())
        if (given[0] == c.name) return execute(c, arguments(given.begin() + 1, given.end()));
    std::vector<std::string> names;
    for (const auto& [name, summary] : all_commands()) names.push_back(name);
    const auto hint = nearest_name(given[0], names);
    throw input_error(fmt::format("unknown command {}{} (commands: {})", quoted(given[0]),
                                  hint.empty() ? "" : fmt::format(", did you mean '{}'?", hint),
                                  fmt::join(names, ", ")));
}

/// A process that closed them must not find our files in their place. Output that cannot be written is an error.
void occupy_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) < 0) [[maybe_unused]]
            const int lowest_free = ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

void complain(const std::string& why) { std::fputs(fmt::format("fabricvp: {}\n", why).c_str(), stderr); }

}  // namespace

const arguments& command_line() { return g_command_line; }
const page_server& page_server_of_caller() { return g_page_server; }

void write_results(platform& p, const std::string& folder) {
    p.write_results(folder);
    note_results(folder);
}

void note_results(const std::string& folder) { g_results.push_back(folder); }

int report_errors(const std::function<int()>& work) {
    try {
        const int status = work();
        if (std::fflush(stdout) != 0 || std::ferror(stdout))
            throw std::system_error(errno ? errno : EIO, std::generic_category());
        return status;
    } catch (const input_error& e) {
        complain(e.what());
    } catch (const std::bad_alloc&) {
        complain("out of memory");
    } catch (const std::filesystem::filesystem_error& e) {
        complain(input_error(e.what()).what());
    } catch (const std::system_error& e) {  // of fmt::print(), whose only file is standard output
        if (e.code() == std::errc::broken_pipe) return status::ok;  // the reader is gone
        complain("standard output: cannot write: " + e.code().message());
    } catch (const std::exception& e) {  // in one line, from the Python package too
        complain(input_error(fmt::format("internal error: {}; please report it with the command", e.what())).what());
    } catch (...) {
        complain("internal error; please report it with the command");
    }
    return status::bad_input;
}

}  // namespace cli

const std::vector<std::string>& cli_results() { return cli::g_results; }

int cli_main(const std::vector<std::string>& arguments, const std::vector<std::pair<std::string, std::string>>& others,
             page_server serve, const std::vector<std::string>& typed) {
    cli::g_others = others;
    cli::g_page_server = std::move(serve);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit fails, and says so
    cli::occupy_standard_streams();
    status_line::share_with_log();
    return cli::report_errors([&] { return cli::dispatch(arguments, typed.empty() ? arguments : typed); });
}

}  // namespace fabricvp
