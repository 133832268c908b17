# SPDX-License-Identifier: Apache-2.0
# Finds RE2 as the target re2::re2: its own CMake package where there is one, else header and library (Debian's
# libre2-dev has no CMake package before 2023).
if(NOT TARGET re2::re2)
  find_package(re2 CONFIG QUIET)
endif()
if(NOT TARGET re2::re2)
  find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
  find_library(RE2_LIBRARY re2 REQUIRED)
  add_library(re2::re2 INTERFACE IMPORTED GLOBAL)
  set_target_properties(re2::re2 PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${RE2_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES "${RE2_LIBRARY}")
endif()
