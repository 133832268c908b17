// SPDX-License-Identifier: Apache-2.0
// A plug-in that registers nothing; with an OTHER_… macro, one that something else has built.
#include "platform/plugin.h"

#ifdef OTHER_VERSION
#undef FABRICVP_STAMP_VERSION
#define FABRICVP_STAMP_VERSION "0.2.9"
#endif
#ifdef OTHER_COMPILER
#undef FABRICVP_STAMP_COMPILER
#define FABRICVP_STAMP_COMPILER "Other 7"
#endif
#ifdef OTHER_LANGUAGE
#undef FABRICVP_STAMP_LANGUAGE
#define FABRICVP_STAMP_LANGUAGE "202002L"
#endif
#ifdef OTHER_LIBRARY
#undef FABRICVP_STAMP_LIBRARY
#define FABRICVP_STAMP_LIBRARY "libstdc++ CXX11_ABI=7"
#endif
#ifdef OTHER_SYSTEMC
#undef FABRICVP_STAMP_SYSTEMC
#define FABRICVP_STAMP_SYSTEMC "1.0.0"
#endif
#ifdef OTHER_HEADERS
#undef FABRICVP_STAMP_HEADERS
#define FABRICVP_STAMP_HEADERS "0"
#endif

FABRICVP_PLUGIN() {}
