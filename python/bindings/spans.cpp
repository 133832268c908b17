// SPDX-License-Identifier: Apache-2.0
// Plain pass-through; python/fabricvp/spans.py has the docstrings.
#include "bindings/spans.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/spans.h"

namespace py = pybind11;

namespace fabricvp::python {
namespace {

using stage_row = std::tuple<std::string, std::string, ticks, ticks, std::uint64_t, ticks>;
using span_row = std::tuple<std::size_t, std::string, std::string, std::uint64_t, ticks, ticks, std::string,
                            std::string, bool, ticks, ticks>;

std::tuple<std::uint64_t, ticks, ticks, std::vector<stage_row>> breakdown() {
    const auto b = span_recorder::current().breakdown();
    std::vector<stage_row> rows;
    for (const auto& s : b.stages) rows.emplace_back(s.component, s.stage, s.queueing, s.service, s.spans, s.longest);
    return {b.accesses, b.total, b.unaccounted, std::move(rows)};
}

using path_row = std::tuple<std::string, std::string, std::uint64_t, ticks, ticks, std::vector<stage_row>>;

std::vector<path_row> paths() {
    std::vector<path_row> rows;
    for (const auto& p : span_recorder::current().paths()) {
        std::vector<stage_row> stages;
        for (const auto& s : p.stages)
            stages.emplace_back(s.component, s.stage, s.queueing, s.service, s.spans, s.longest);
        rows.emplace_back(p.what, name_of(p.reach), p.accesses, p.total, p.unaccounted, std::move(stages));
    }
    return rows;
}

std::vector<span_row> accesses() {
    const auto& recorder = span_recorder::current();
    std::vector<span_row> rows;
    for (const auto& a : recorder.recorded()) {
        for (const auto& s : a.spans)
            rows.emplace_back(a.number, a.who, a.what, a.address, a.begin, a.end, recorder.component_of(s.stage),
                              recorder.name_of(s.stage), s.kind == span_kind::queueing, s.begin, s.end);
    }
    return rows;
}

}  // namespace

void bind_spans(py::module_& m) {
    m.def("spans_enable", [](bool on) { span_recorder::current().enable(on); });
    m.def("spans_record_next", [](std::size_t max_accesses) { span_recorder::current().record_next(max_accesses); });
    m.def("spans_restart", [] { span_recorder::current().restart(); });
    m.def("spans_breakdown", &breakdown);
    m.def("spans_accesses", &accesses);
    m.def("spans_paths", &paths);
}

}  // namespace fabricvp::python
