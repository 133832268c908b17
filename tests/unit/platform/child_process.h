// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

namespace fabricvp::test {

/// Runs `work` in a child, since a process elaborates one machine. \returns its text, or what it threw, or how it died
inline std::string in_child(const std::function<std::string()>& work) {
    int ends[2];
    if (pipe(ends)) return "no pipe";
    std::fflush(nullptr);
    const auto child = fork();
    if (child < 0) return "no child";
    if (child == 0) {
        std::string text;
        try {
            text = work();
        } catch (const std::exception& e) {
            text = e.what();
        }
        close(ends[0]);
        for (std::size_t done = 0; done < text.size();) {
            const auto n = write(ends[1], text.data() + done, text.size() - done);
            if (n <= 0) break;
            done += static_cast<std::size_t>(n);
        }
        _exit(0);
    }
    close(ends[1]);
    std::string text;
    char part[4096];
    for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) text += "the child died";
    return text;
}

}  // namespace fabricvp::test
