// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <systemc>

#include <cstdio>
#include <cstdlib>

#include "after_each_test.h"
#include "base/statistics.h"

namespace fabricvp::test {

std::vector<std::function<std::string(bool)>>& after_each_test() {
    static std::vector<std::function<std::string(bool)>> checks;
    return checks;
}

namespace {

class checker final : public Catch::TestEventListenerBase {
public:
    using TestEventListenerBase::TestEventListenerBase;
    void testCaseEnded(const Catch::TestCaseStats& ended) override { check(false, ended.testInfo.name); }
    void testRunEnded(const Catch::TestRunStats&) override {
        check(true, "everything");
        if (!m_failed) return;
        std::fflush(nullptr);
        std::_Exit(EXIT_FAILURE);
    }

private:
    void check(bool last, const std::string& after) {
        for (const auto& each : after_each_test())
            if (const auto wrong = each(last); !wrong.empty()) {
                std::fprintf(stderr, "after \"%s\": %s\n", after.c_str(), wrong.c_str());
                m_failed = true;
            }
    }
    bool m_failed = false;
};

CATCH_REGISTER_LISTENER(checker)

}  // namespace
}  // namespace fabricvp::test

int sc_main(int argc, char* argv[]) {
    // Misuse of SystemC throws, and so fails the test that did it.
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
    fabricvp::check_statistics(true);
    return Catch::Session().run(argc, argv);
}
