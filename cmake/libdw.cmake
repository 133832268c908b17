# SPDX-License-Identifier: Apache-2.0
# Finds elfutils' libdw and libelf as the target elfutils::dw.
if(NOT TARGET elfutils::dw)
  find_path(LIBDW_INCLUDE_DIR elfutils/libdw.h REQUIRED)
  find_library(LIBDW_LIBRARY dw REQUIRED)
  find_library(LIBELF_LIBRARY elf REQUIRED)
  add_library(elfutils::dw INTERFACE IMPORTED GLOBAL)
  set_target_properties(elfutils::dw PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${LIBDW_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES "${LIBDW_LIBRARY};${LIBELF_LIBRARY}")
endif()
