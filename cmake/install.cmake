# SPDX-License-Identifier: Apache-2.0
# What embedders and plug-ins get: the library, headers, the CMake package (find_package(FabricVP), in either spelling), machines and firmware
# images. The Python package is a component of its own ("python"), which pip installs, with the same for plug-ins in its
# folder `cpp` ("sdk").
include(CMakePackageConfigHelpers)
set(share_folder ${CMAKE_INSTALL_DATADIR}/fabricvp)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fabricvp-config-version.cmake COMPATIBILITY SameMinorVersion)
get_property(modules GLOBAL PROPERTY fabricvp_modules)
list(TRANSFORM modules REPLACE "^fabricvp_" "" OUTPUT_VARIABLE FABRICVP_MODULES)

# fabricvp_install_library(COMPONENT FOLDER SHARE): below FOLDER, "" for the prefix itself.
function(fabricvp_install_library component folder share_folder)
  set(libraries ${folder}${CMAKE_INSTALL_LIBDIR})
  set(headers ${folder}${CMAKE_INSTALL_INCLUDEDIR}/fabricvp)
  set(package ${libraries}/cmake/fabricvp)
  install(TARGETS fabricvp_library EXPORT fabricvp_${component} LIBRARY DESTINATION ${libraries} COMPONENT ${component}
    INCLUDES DESTINATION ${headers})
  install(EXPORT fabricvp_${component} NAMESPACE fabricvp:: FILE fabricvpTargets.cmake DESTINATION ${package} COMPONENT ${component})
  set(made ${PROJECT_BINARY_DIR}/package_${component})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fabricvp-config.cmake.in ${made}/fabricvp-config.cmake
    INSTALL_DESTINATION ${package} PATH_VARS share_folder)
  install(FILES ${made}/fabricvp-config.cmake ${PROJECT_BINARY_DIR}/fabricvp-config-version.cmake
    ${PROJECT_SOURCE_DIR}/cmake/systemc.cmake ${PROJECT_SOURCE_DIR}/cmake/fabricvp_plugin.cmake
    ${PROJECT_SOURCE_DIR}/cmake/fabricvp_gpu_kernel.cmake
    DESTINATION ${package} COMPONENT ${component})
  foreach(source ${PROJECT_SOURCE_DIR}/models/ ${PROJECT_SOURCE_DIR}/platform ${PROJECT_SOURCE_DIR}/abi ${FABRICVP_GENERATED_DIR}/)
    install(DIRECTORY ${source} DESTINATION ${headers} COMPONENT ${component} FILES_MATCHING PATTERN "*.h")
  endforeach()
endfunction()

fabricvp_install_library(development "" ${share_folder})
if(TARGET fabricvp)
  install(TARGETS fabricvp RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT development)
endif()
if(FABRICVP_PYTHON)
  set(CMAKE_INSTALL_LIBDIR lib)
  set(CMAKE_INSTALL_INCLUDEDIR include)
  fabricvp_install_library(sdk fabricvp/cpp/ fabricvp)
endif()

install(DIRECTORY configs DESTINATION ${share_folder} COMPONENT development FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY ${PROJECT_BINARY_DIR}/firmware DESTINATION ${share_folder} COMPONENT development OPTIONAL
  FILES_MATCHING PATTERN "*.elf" PATTERN "*.img" PATTERN CMakeFiles EXCLUDE)
