// SPDX-License-Identifier: Apache-2.0
#include "bindings/session.h"
#include "platform/console/console.h"
#include "platform/console/line_start.h"

namespace fabricvp::python {

py::bytes session::console_output(std::size_t node, std::size_t from) {
    at(node);
    const auto& output = m_platform->serial(node).output();
    return from >= output.size() ? py::bytes() : py::bytes(output.data() + from, output.size() - from);
}

int session::watch_output(std::size_t index, console_watch watch) {
    auto& n = at(index);
    if (!n.watches_console) {
        n.watches_console = true;
        m_platform->serial(index).on_output([this, &n, index](char) {
            const auto& output = m_platform->serial(index).output();
            for (const auto& [id, w] : n.console_watches)
                if (w.holds(output)) m_platform->stop_with_event(w.description);
        });
    }
    const int id = m_next_watch++;
    n.console_watches.emplace(id, std::move(watch));
    return id;
}

int session::watch_console_text(std::size_t node, std::size_t from, std::string text, bool at_line_start,
                                std::string description) {
    auto holds = [from, at_line_start, text = std::move(text)](const std::string& output) {
        return output.size() >= from + text.size() &&
               output.compare(output.size() - text.size(), text.size(), text) == 0 &&
               (!at_line_start || starts_line(output, output.size() - text.size()));
    };
    return watch_output(node, {std::move(holds), std::move(description)});
}

int session::watch_console(std::size_t node, py::function holds, std::string description) {
    // Destroyed by unwatch_console(), with the GIL held.
    auto call = [this, holds = std::move(holds)](const std::string&) {
        py::gil_scoped_acquire gil;
        try {
            return holds().cast<bool>();
        } catch (py::error_already_set&) {
            fail(std::current_exception());
            return false;
        }
    };
    return watch_output(node, {std::move(call), std::move(description)});
}

int session::watch_marker(std::size_t index, std::optional<std::string> label, std::optional<std::string> kind) {
    auto& n = at(index);
    if (!n.watches_marker) {
        n.watches_marker = true;
        n.host->marker.on_mark = [this, &n, next = std::move(n.host->marker.on_mark)](host::marker::kind k,
                                                                                      const std::string& text) {
            if (next) next(k, text);
            const char* name = k == host::marker::kind::reset  ? "reset"
                               : k == host::marker::kind::dump ? "dump"
                                                               : "note";
            for (const auto& [id, w] : n.marker_watches)
                if ((!w.label || *w.label == text) && (!w.kind || *w.kind == name))
                    m_platform->stop_with_event(std::string("marker ") + name + " '" + text + "'");
        };
    }
    const int id = m_next_watch++;
    n.marker_watches.emplace(id, marker_watch{std::move(label), std::move(kind)});
    return id;
}

}  // namespace fabricvp::python
