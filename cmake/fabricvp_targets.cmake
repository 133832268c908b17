# SPDX-License-Identifier: Apache-2.0
# How this project builds a module: a static library that knows only the modules it names.

include(systemc)
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)
include(compile)

# fabricvp_module(NAME SOURCES … [DEPENDS modules…] [LIBRARIES targets…])
function(fabricvp_module name)
  cmake_parse_arguments(module "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(fabricvp_${name} STATIC ${module_SOURCES})
  add_library(fabricvp::${name} ALIAS fabricvp_${name})
  set_target_properties(fabricvp_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(fabricvp_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/models> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/fabricvp>)
  list(TRANSFORM module_DEPENDS PREPEND fabricvp_)
  target_link_libraries(fabricvp_${name} PUBLIC fabricvp_options ${module_DEPENDS} SystemC::systemc fmt::fmt ${module_LIBRARIES})
  target_precompile_headers(fabricvp_${name} REUSE_FROM fabricvp_pch)
  set_property(GLOBAL APPEND PROPERTY fabricvp_modules fabricvp_${name})
endfunction()
