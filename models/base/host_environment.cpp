// SPDX-License-Identifier: Apache-2.0
#include "base/host_environment.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace fabricvp {

#if defined(__SSE2__)
host_environment::host_environment() : m_saved(_mm_getcsr()) { _mm_setcsr(0x1f80); }
host_environment::~host_environment() { _mm_setcsr(m_saved); }
#else
host_environment::host_environment() : m_saved(0) {}
host_environment::~host_environment() {}
#endif

}  // namespace fabricvp
