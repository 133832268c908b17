# SPDX-License-Identifier: Apache-2.0
# How everything is compiled: cache, warnings, sanitizers, one precompiled header for all modules.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The slack that ccache needs to cache sources which use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()

add_library(fabricvp_options INTERFACE)
target_compile_features(fabricvp_options INTERFACE cxx_std_17)
target_compile_options(fabricvp_options INTERFACE
  $<BUILD_INTERFACE:-Wall> $<BUILD_INTERFACE:-Wextra> $<BUILD_INTERFACE:-Wno-unused-parameter>)
# Code that may end in the Python module is position-independent; its functions are not replaced at load time, so the
# compiler may inline them there as it would in a program.
target_compile_options(fabricvp_options INTERFACE $<BUILD_INTERFACE:-fno-semantic-interposition>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CCACHE_PROGRAM)
  target_compile_options(fabricvp_options INTERFACE $<BUILD_INTERFACE:-fpch-preprocess>)
endif()
if(FABRICVP_SANITIZE)
  target_compile_options(fabricvp_options INTERFACE
    -fsanitize=${FABRICVP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(fabricvp_options INTERFACE -fsanitize=${FABRICVP_SANITIZE})
endif()

# SystemC and TLM are parsed once for all modules, and once with Catch2 for all tests. A user of such a header is
# compiled with the same code generation options as its owner, or the compiler ignores it.
function(fabricvp_precompiled_header name)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "// owns a precompiled header\n")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE fabricvp_options SystemC::systemc fmt::fmt)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()
fabricvp_precompiled_header(fabricvp_pch ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
