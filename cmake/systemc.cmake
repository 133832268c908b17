# SPDX-License-Identifier: Apache-2.0
# Finds SystemC as the target SystemC::systemc: its own CMake package where there is one, else header and library
# (Debian ships no CMake package). SYSTEMC_INCLUDE_DIR and SYSTEMC_LIBRARY choose another version.
if(NOT SYSTEMC_LIBRARY)
  find_package(SystemCLanguage QUIET CONFIG)
endif()
if(NOT TARGET SystemC::systemc)
  find_path(SYSTEMC_INCLUDE_DIR systemc)
  find_library(SYSTEMC_LIBRARY systemc)
  if(NOT SYSTEMC_INCLUDE_DIR OR NOT SYSTEMC_LIBRARY)
    message(FATAL_ERROR "SystemC is needed (Debian: apt install libsystemc-dev)")
  endif()
  add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
  set_target_properties(SystemC::systemc PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${SYSTEMC_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES "${SYSTEMC_LIBRARY}")
endif()
