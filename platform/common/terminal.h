// SPDX-License-Identifier: Apache-2.0
// What is particular to output that a person reads on a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fabricvp {

/// Columns of the terminal behind a descriptor; nothing where there is none (a file, a pipe).
std::optional<std::size_t> terminal_width(int descriptor);

/// Columns that text takes: its characters, where bytes may be several of one (UTF-8).
std::size_t columns(std::string_view text);
/// The longest beginning of `text` that takes at most so many columns.
std::string_view clipped(std::string_view text, std::size_t width);
/// `line` broken at blanks into lines of at most `width` columns, those after the first one indented (at most by half
/// of the width) and begun with `lead`. Words that are longer stay whole.
std::string wrapped(std::string_view line, std::size_t indent, std::size_t width, std::string_view lead = {});
/// The same for standard output; as it is where that is no terminal, since lines of files are searched.
std::string fitted(std::string_view line, std::size_t indent, std::string_view lead = {});

/// One line at the end of what standard error's terminal shows, which is written over: how a long run gets on. Other
/// output on the same terminal calls erase() before. There is one a process, since there is one terminal.
namespace status_line {
/// Nothing happens where standard error is no terminal, or where others have left a line there unfinished.
void show(std::string_view text);
void erase();
/// Log messages erase it from now on.
void share_with_log();
/// Others print this on the terminal next.
void before_output(std::string_view text);
}  // namespace status_line

}  // namespace fabricvp
