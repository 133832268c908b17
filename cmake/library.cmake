# SPDX-License-Identifier: Apache-2.0
# All modules as one shared library: the program, the Python module and plug-ins use it, so that a process has one copy
# of what models register and count (docs/explanation/decisions/plugins.md). Objects are those of the static libraries.
find_package(ZLIB REQUIRED)
get_property(modules GLOBAL PROPERTY fabricvp_modules)
get_property(libraries GLOBAL PROPERTY fabricvp_libraries)
list(REMOVE_DUPLICATES libraries)
set(objects "")
foreach(module ${modules})
  list(APPEND objects $<TARGET_OBJECTS:${module}>)
endforeach()

# A plug-in finds in the stamp which headers this library was made with.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/models/*.h
  ${PROJECT_SOURCE_DIR}/platform/*.h ${PROJECT_SOURCE_DIR}/abi/*.h)
set(header_paths ${headers})
list(TRANSFORM header_paths PREPEND ${PROJECT_SOURCE_DIR}/)
set(stamp ${FABRICVP_GENERATED_DIR}/platform/build_stamp.h)
file(CONFIGURE OUTPUT ${FABRICVP_GENERATED_DIR}/headers.txt CONTENT "${headers}")
add_custom_command(OUTPUT ${stamp}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DHEADERS=${FABRICVP_GENERATED_DIR}/headers.txt
    -DVERSION=${PROJECT_VERSION} -DSTAMP=${stamp} -P ${PROJECT_SOURCE_DIR}/cmake/build_stamp.cmake
  DEPENDS ${header_paths} ${FABRICVP_GENERATED_DIR}/headers.txt ${PROJECT_SOURCE_DIR}/cmake/build_stamp.cmake
  VERBATIM COMMENT "Hashing headers")
add_custom_target(fabricvp_build_stamp DEPENDS ${stamp})
add_dependencies(fabricvp_platform fabricvp_build_stamp)
set_source_files_properties(config/plugins.cpp PROPERTIES INCLUDE_DIRECTORIES ${FABRICVP_GENERATED_DIR})

add_library(fabricvp_library SHARED ${objects})
add_library(fabricvp::fabricvp ALIAS fabricvp_library)
# One name for each version: programs that were built with another one do not start with this one by mistake.
set_target_properties(fabricvp_library PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME fabricvp-${PROJECT_VERSION}
  EXPORT_NAME fabricvp LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
target_compile_features(fabricvp_library PUBLIC cxx_std_17)
target_include_directories(fabricvp_library PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/models>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${FABRICVP_GENERATED_DIR}>)
target_link_libraries(fabricvp_library PUBLIC SystemC::systemc fmt::fmt PRIVATE fabricvp_options ${libraries})
# Calls inside of the library go straight to their function: nothing replaces these at load time.
target_link_options(fabricvp_library PRIVATE LINKER:-Bsymbolic-functions)
include(fabricvp_plugin)
