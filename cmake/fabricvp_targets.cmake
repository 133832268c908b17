# SPDX-License-Identifier: Apache-2.0
# How this project builds a room: a static library that knows only the rooms it names.

include(systemc)
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)
include(compile)

# fabricvp_room(NAME SOURCES … [KNOWS rooms…] [LIBRARIES targets…])
function(fabricvp_room name)
  cmake_parse_arguments(room "" "" "SOURCES;KNOWS;LIBRARIES" ${ARGN})
  add_library(fabricvp_${name} STATIC ${room_SOURCES})
  add_library(fabricvp::${name} ALIAS fabricvp_${name})
  set_target_properties(fabricvp_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(fabricvp_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/models> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/firmware> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/fabricvp>)
  list(TRANSFORM room_KNOWS PREPEND fabricvp_)
  target_link_libraries(fabricvp_${name} PUBLIC fabricvp_options ${room_KNOWS} SystemC::systemc fmt::fmt ${room_LIBRARIES})
  target_precompile_headers(fabricvp_${name} REUSE_FROM fabricvp_pch)
  set_property(GLOBAL APPEND PROPERTY fabricvp_rooms fabricvp_${name})
endfunction()
