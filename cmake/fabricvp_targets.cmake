# SPDX-License-Identifier: Apache-2.0
# How this project builds a module: a static library that knows only the modules it names. cmake/library.cmake makes one
# shared library of all.

include(systemc)
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)
include(compile)
set(FABRICVP_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)  # headers that the build makes

# Sources of a module have most headers in common, so groups of them are compiled as one: about half of the processor
# time. Names in anonymous namespaces must then differ within a group. Off, a changed file is compiled alone.
option(FABRICVP_UNITY "Compile groups of a module's sources as one" ON)

# fabricvp_unity(TARGET files…): compiles these files as one. Called once a group.
function(fabricvp_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${FABRICVP_UNITY} UNITY_BUILD_MODE GROUP)
  list(GET ARGN 0 first)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP "${first}")
endfunction()

# fabricvp_groups(TARGET "files" …): one group an argument.
function(fabricvp_groups target)
  foreach(group IN LISTS ARGN)
    separate_arguments(group)
    fabricvp_unity(${target} ${group})
  endforeach()
endfunction()

# fabricvp_module(NAME SOURCES … [DEPENDS modules…] [LIBRARIES targets…])
function(fabricvp_module name)
  cmake_parse_arguments(module "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(fabricvp_${name} STATIC ${module_SOURCES})
  add_library(fabricvp::${name} ALIAS fabricvp_${name})
  target_include_directories(fabricvp_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/models> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  list(TRANSFORM module_DEPENDS PREPEND fabricvp_)
  target_link_libraries(fabricvp_${name} PUBLIC fabricvp_options ${module_DEPENDS} SystemC::systemc fmt::fmt ${module_LIBRARIES})
  target_precompile_headers(fabricvp_${name} REUSE_FROM fabricvp_pch)
  set_property(GLOBAL APPEND PROPERTY fabricvp_modules fabricvp_${name})
  set_property(GLOBAL APPEND PROPERTY fabricvp_libraries ${module_LIBRARIES})
  if(SKBUILD)
    add_custom_command(TARGET fabricvp_${name} POST_BUILD VERBATIM
      COMMAND ${PROJECT_SOURCE_DIR}/cmake/tell.sh "compiled module ${name}")
  endif()
endfunction()
