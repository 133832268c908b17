# SPDX-License-Identifier: Apache-2.0
# How this project builds a room (a static library) and a test (an executable of its own, with a time limit).

find_package(SystemCLanguage QUIET CONFIG)
if(NOT TARGET SystemC::systemc)  # Debian's 2.3.4 ships no CMake package
  find_path(SYSTEMC_INCLUDE_DIR systemc REQUIRED)
  find_library(SYSTEMC_LIBRARY systemc REQUIRED)
  add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
  set_target_properties(SystemC::systemc PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${SYSTEMC_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES "${SYSTEMC_LIBRARY}")
endif()
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(fabricvp_options INTERFACE)
target_compile_features(fabricvp_options INTERFACE cxx_std_17)
target_compile_options(fabricvp_options INTERFACE -Wall -Wextra -Wno-unused-parameter)
if(FABRICVP_SANITIZE)
  target_compile_options(fabricvp_options INTERFACE -fsanitize=${FABRICVP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(fabricvp_options INTERFACE -fsanitize=${FABRICVP_SANITIZE})
endif()

# fabricvp_room(NAME SOURCES … KNOWS rooms…)
function(fabricvp_room name)
  cmake_parse_arguments(room "" "" "SOURCES;KNOWS;LIBRARIES" ${ARGN})
  add_library(fabricvp_${name} STATIC ${room_SOURCES})
  target_include_directories(fabricvp_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/models> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/firmware> $<INSTALL_INTERFACE:include/fabricvp>)
  target_include_directories(fabricvp_${name} SYSTEM INTERFACE $<TARGET_PROPERTY:SystemC::systemc,INTERFACE_INCLUDE_DIRECTORIES>)
  list(TRANSFORM room_KNOWS PREPEND fabricvp_)
  target_link_libraries(fabricvp_${name} PUBLIC fabricvp_options ${room_KNOWS} SystemC::systemc fmt::fmt ${room_LIBRARIES})
  if(NOT name STREQUAL "base" AND TARGET fabricvp_base)
    target_precompile_headers(fabricvp_${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
  endif()
endfunction()
