# SPDX-License-Identifier: Apache-2.0
# fabricvp_plugin(NAME SOURCES …): a plug-in libNAME.so for `fabricvp run --plugin` (platform/plugin.h).
function(fabricvp_plugin name)
  cmake_parse_arguments(plugin "" "" "SOURCES" ${ARGN})
  add_library(${name} MODULE ${plugin_SOURCES})
  target_link_options(${name} PRIVATE LINKER:--no-undefined)  # what is missing is told here, not when it is loaded
  target_link_libraries(${name} PRIVATE fabricvp::fabricvp)
  # Where the library lies is the program's choice, which has loaded it before any plug-in.
  set_target_properties(${name} PROPERTIES PREFIX lib CXX_EXTENSIONS ON CXX_VISIBILITY_PRESET default
    VISIBILITY_INLINES_HIDDEN OFF SKIP_BUILD_RPATH ON SKIP_INSTALL_RPATH ON)
endfunction()
