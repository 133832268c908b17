# SPDX-License-Identifier: Apache-2.0
# What embedders get: libraries, headers, the CMake package (find_package(fabricvp)), machines and firmware images.
# The Python package is a component of its own ("python"), which pip installs.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/fabricvp)
set(share_folder ${CMAKE_INSTALL_DATADIR}/fabricvp)

get_property(modules GLOBAL PROPERTY fabricvp_modules)
set_target_properties(fabricvp_options PROPERTIES EXPORT_NAME options)
install(TARGETS ${modules} fabricvp_options EXPORT fabricvp ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(TARGET fabricvp)
  install(TARGETS fabricvp RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT development)
endif()
install(EXPORT fabricvp NAMESPACE fabricvp:: FILE fabricvpTargets.cmake DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fabricvpConfig.cmake.in ${PROJECT_BINARY_DIR}/fabricvpConfig.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS share_folder)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fabricvpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fabricvpConfig.cmake ${PROJECT_BINARY_DIR}/fabricvpConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/systemc.cmake DESTINATION ${package_folder} COMPONENT development)

foreach(headers models/ platform abi)
  install(DIRECTORY ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fabricvp COMPONENT development FILES_MATCHING PATTERN "*.h")
endforeach()
install(DIRECTORY configs DESTINATION ${share_folder} COMPONENT development FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY ${PROJECT_BINARY_DIR}/firmware DESTINATION ${share_folder} COMPONENT development OPTIONAL
  FILES_MATCHING PATTERN "*.elf" PATTERN "*.img" PATTERN CMakeFiles EXCLUDE)
