// SPDX-License-Identifier: Apache-2.0
// What a plug-in includes beside the models that it uses. A plug-in is a shared library that adds kinds to the
// registries of this process: stages of links, PCIe and host devices. `--plugin`, the key `plugins` and Python load it.
//   FABRICVP_PLUGIN() { fabricvp::host::add_device_kind(…); }
// The stamp says what it was built with. It is read from the file before any of the plug-in's code runs.
#pragma once

#include <systemc>

#include "platform/build_stamp.h"  // made by the build: version, and a hash of the headers

#define FABRICVP_TEXT_OF(x) #x
#define FABRICVP_TEXT(x) FABRICVP_TEXT_OF(x)

#ifdef __clang__
#define FABRICVP_STAMP_COMPILER "Clang " FABRICVP_TEXT(__clang_major__)
#else
#define FABRICVP_STAMP_COMPILER "GCC " FABRICVP_TEXT(__GNUC__)
#endif

#ifdef _LIBCPP_VERSION
#define FABRICVP_STAMP_LIBRARY "libc++ ABI " FABRICVP_TEXT(_LIBCPP_ABI_VERSION)
#elif defined(_GLIBCXX_DEBUG)
#define FABRICVP_STAMP_LIBRARY "libstdc++ CXX11_ABI=" FABRICVP_TEXT(_GLIBCXX_USE_CXX11_ABI) " with debug containers"
#else
#define FABRICVP_STAMP_LIBRARY "libstdc++ CXX11_ABI=" FABRICVP_TEXT(_GLIBCXX_USE_CXX11_ABI)
#endif

#define FABRICVP_STAMP_LANGUAGE FABRICVP_TEXT(__cplusplus)
#define FABRICVP_STAMP_SYSTEMC \
    FABRICVP_TEXT(SC_VERSION_MAJOR) "." FABRICVP_TEXT(SC_VERSION_MINOR) "." FABRICVP_TEXT(SC_VERSION_PATCH)

/// One property a line, the coarsest first: `name value`.
#define FABRICVP_PLUGIN_STAMP                                                                                 \
    "fabricvp " FABRICVP_STAMP_VERSION "\ncompiler " FABRICVP_STAMP_COMPILER "\nC++ " FABRICVP_STAMP_LANGUAGE \
    "\nlibrary " FABRICVP_STAMP_LIBRARY "\nSystemC " FABRICVP_STAMP_SYSTEMC "\nheaders " FABRICVP_STAMP_HEADERS "\n"

/// Section of a plug-in's file that holds the stamp, and the function that is called once.
#define FABRICVP_PLUGIN_SECTION "fabricvp_plugin"
#define FABRICVP_PLUGIN_ENTRY fabricvp_register_plugin

/// Begins the function that registers the kinds of a plug-in. Stands once, at namespace scope.
#define FABRICVP_PLUGIN()                                                                     \
    extern "C" __attribute__((visibility("default"), used, section(FABRICVP_PLUGIN_SECTION))) \
    const char fabricvp_plugin_stamp[] = FABRICVP_PLUGIN_STAMP;                               \
    extern "C" __attribute__((visibility("default"))) void FABRICVP_PLUGIN_ENTRY()
