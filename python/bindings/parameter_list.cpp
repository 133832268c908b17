// SPDX-License-Identifier: Apache-2.0
#include "bindings/parameter_list.h"

#include <string>
#include <vector>

#include <pybind11/stl.h>

#include "base/described_blocks.h"
#include "platform/config/machine_reader.h"
#include "platform/params/machine_params.h"

namespace fabricvp::python {

namespace py = pybind11;

namespace {

const char* kind_name(parameter_kind kind) {
    switch (kind) {
        case parameter_kind::boolean: return "boolean";
        case parameter_kind::integer: return "integer";
        case parameter_kind::real: return "real";
        case parameter_kind::text: return "text";
        case parameter_kind::choice: return "choice";
        case parameter_kind::text_list: return "text_list";
        case parameter_kind::duration: return "duration";
        case parameter_kind::frequency: return "frequency";
        case parameter_kind::byte_size: return "byte_size";
        case parameter_kind::bandwidth: return "bandwidth";
        case parameter_kind::cycles: return "cycles";
    }
    return "";
}

struct to_python {
    py::object operator()(const bool* v) const { return py::bool_(*v); }
    py::object operator()(const std::uint64_t* v) const { return py::int_(*v); }
    py::object operator()(const double* v) const { return py::float_(*v); }
    py::object operator()(const std::string* v) const { return py::str(*v); }
    py::object operator()(const std::vector<std::string>* v) const { return py::cast(*v); }
    py::object operator()(const duration* v) const {
        return py::float_(static_cast<double>(v->value) / ticks_per_second);
    }
    py::object operator()(const frequency* v) const { return py::int_(v->hertz); }
    py::object operator()(const byte_size* v) const { return py::int_(v->bytes); }
    py::object operator()(const bandwidth* v) const { return py::int_(v->bytes_per_second); }
    py::object operator()(const cycles* v) const { return py::int_(v->count); }
};

class lister final : public named_blocks {
public:
    py::list found;

protected:
    void visit(parameter& p) override {
        found.append(parameter_record{m_path + p.name, kind_name(p.kind), p.text(), p.allowed(), p.help,
                                      std::visit(to_python{}, p.value)});
    }
    bool enter(const char* name, const char*) override {
        push(name);
        return true;
    }
    void leave() override { m_path.resize(m_lengths.back()), m_lengths.pop_back(); }
    std::size_t enter_list(const char* name, const char*, std::size_t size) override {
        open_list();
        if (lists_blocks())
            m_lengths.push_back(m_path.size());  // they are known by their names alone
        else
            push(name);
        return size;
    }
    void enter_item(std::size_t index) override { push(item_name(index)); }
    void leave_list() override { leave(), close_list(); }

private:
    void push(const std::string& name) {
        m_lengths.push_back(m_path.size());
        m_path += name + ".";
    }
    std::string m_path;
    std::vector<std::size_t> m_lengths;
};

}  // namespace

py::list list_parameters(const std::string& resolved_yaml) {
    auto params = read_machine_params(resolved_yaml, "resolved configuration", {});
    lister all;
    params.describe(all);
    return all.found;
}

}  // namespace fabricvp::python
