// SPDX-License-Identifier: Apache-2.0
#include "acknowledge_check.h"

TEST_CASE("requests that nothing follows, of an adapter that fetches two at a time") {
    fabricvp::hca::test::check_requests_that_nothing_follows(2);
}
