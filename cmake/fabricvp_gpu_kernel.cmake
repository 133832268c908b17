# SPDX-License-Identifier: Apache-2.0
# fabricvp_gpu_program(OUTPUT SOURCE.cl|.hip|.cu COMMAND words… [OPTIONS flags…]) compiles kernels for GPUs with `fabricvp cc`,
# whose options -D, -I, -O and --flag= OPTIONS are.
#
# Users of the package have fabricvp_gpu_kernel(NAME SOURCES x.cl [OPTIONS flags…]): NAME.elf in the folder of the build, target
# NAME. FABRICVP_COMMAND is the command, found in PATH otherwise.
function(fabricvp_gpu_program output source)
  cmake_parse_arguments(program "" "" "COMMAND;OPTIONS;DEPENDS" ${ARGN})
  get_filename_component(path ${source} ABSOLUTE)
  get_filename_component(name ${output} NAME)
  get_filename_component(folder ${output} DIRECTORY)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${program_COMMAND} cc ${path} -o ${output} --depfile ${output}.d ${program_OPTIONS}
    DEPENDS ${path} ${program_DEPENDS} DEPFILE ${output}.d VERBATIM COMMENT "Compiling ${name}")
endfunction()

# Sets RESULT to whether these are sources of `fabricvp cc`, of which an image has one.
function(fabricvp_is_gpu_program result)
  set(found "${ARGN}")
  list(FILTER found INCLUDE REGEX "\\.(cl|hip|cu)$")
  list(LENGTH found programs)
  list(LENGTH ARGN all)
  if(programs AND NOT all EQUAL 1)
    message(FATAL_ERROR "fabricvp_gpu_kernel: a .cl, .hip or .cu file is an image's only source, and there are: ${ARGN}")
  endif()
  set(${result} ${programs} PARENT_SCOPE)
endfunction()

if(NOT COMMAND fabricvp_gpu_kernel)
  function(fabricvp_gpu_kernel name)
    cmake_parse_arguments(kernel "" "" "SOURCES;OPTIONS" ${ARGN})
    fabricvp_is_gpu_program(compiled ${kernel_SOURCES})
    if(NOT compiled)
      message(FATAL_ERROR "fabricvp_gpu_kernel(${name}): give a .cl, .hip or .cu file; fabricvp.mk builds kernels in C")
    endif()
    find_program(FABRICVP_COMMAND fabricvp REQUIRED)
    set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf)
    fabricvp_gpu_program(${image} ${kernel_SOURCES} COMMAND ${FABRICVP_COMMAND} OPTIONS ${kernel_OPTIONS})
    add_custom_target(${name} ALL DEPENDS ${image})
  endfunction()
endif()
