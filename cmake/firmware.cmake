# SPDX-License-Identifier: Apache-2.0
# fabricvp_firmware(NAME SOURCES … LINKER x.ld [ARCH rv64gc] [ABI lp64d] [LIBRARIES names…] [INCLUDES dirs…] [OPTIONS flags…] [LINK flags…] [IMAGES names…] [DISK])
# cross-compiles freestanding C and assembly to ${FABRICVP_FIRMWARE_DIR}/NAME.elf (target firmware_NAME). LIBRARIES are those of
# fabricvp_firmware_library() of the same ARCH; their objects come before the sources'. IMAGES are other firmware that is linked in
# as data (drivers/gpu/images.h). LINK flags come behind all objects, before libgcc. With DISK there is NAME.img, too: the flat
# binary from its first sector on, for boot loaders, with zeros up to whole MiB.
#
# fabricvp_firmware_library(NAME ARCHS archs… SOURCES … [INCLUDES dirs…] [OPTIONS flags…])
# compiles them once for each ARCH. All objects are linked, in their order, and the linker drops sections that nothing needs: where a
# section lies follows from the lists alone.
find_program(RISCV_GCC riscv64-unknown-elf-gcc)
find_program(RISCV_OBJCOPY riscv64-unknown-elf-objcopy)
find_program(RISCV_AR riscv64-unknown-elf-ar)
set(FABRICVP_FIRMWARE_DIR ${PROJECT_BINARY_DIR}/firmware)
# Images as they are linked into others: without debug information, whose paths would make the size of what they are linked
# into, and with it addresses and times, depend on the folder of the build.
set(FABRICVP_EMBEDDED_DIR ${PROJECT_BINARY_DIR}/embedded)
set(FABRICVP_FIRMWARE_LIBRARIES ${PROJECT_BINARY_DIR}/firmware_libraries)

# Sets ABI, the one that an ARCH implies.
function(firmware_abi arch)
  if(arch MATCHES "^rv64(g|[a-fh-z]*d)")
    set(ABI lp64d PARENT_SCOPE)
  else()
    set(ABI lp64 PARENT_SCOPE)
  endif()
endfunction()

# Sets FLAGS of the compiler.
function(firmware_flags arch abi includes options)
  if(NOT RISCV_GCC)
    message(FATAL_ERROR "riscv64-unknown-elf-gcc is needed for firmware images (Debian: gcc-riscv64-unknown-elf)")
  endif()
  list(TRANSFORM includes PREPEND -I)
  set(FLAGS -march=${arch} -mabi=${abi} -mcmodel=medany -ffreestanding -O2 -g -Wall -Wextra -fno-common
    -fno-tree-loop-distribute-patterns -ffunction-sections -fdata-sections -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/firmware ${includes} ${options}
    PARENT_SCOPE)
endfunction()

# Compiles sources with FLAGS into the folder's `part`, sets OBJECTS.
function(firmware_objects part label)
  set(objects "")
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(stem ${source} NAME)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${part}/${stem}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${part}
      COMMAND ${RISCV_GCC} ${FLAGS} -MD -MF ${object}.d -c ${path} -o ${object}
      DEPENDS ${path} DEPFILE ${object}.d VERBATIM COMMENT "Cross-compiling ${label}/${stem}")
    list(APPEND objects ${object})
  endforeach()
  set(OBJECTS ${objects} PARENT_SCOPE)
endfunction()

function(fabricvp_firmware_library name)
  cmake_parse_arguments(fw "" "" "ARCHS;SOURCES;INCLUDES;OPTIONS" ${ARGN})
  set(libraries "")
  foreach(arch ${fw_ARCHS})
    firmware_abi(${arch})
    firmware_flags(${arch} ${ABI} "${fw_INCLUDES}" "${fw_OPTIONS}")
    firmware_objects(library_${name}_${arch} ${name} ${fw_SOURCES})
    set(library ${FABRICVP_FIRMWARE_LIBRARIES}/${arch}/lib${name}.a)
    add_custom_command(OUTPUT ${library}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${FABRICVP_FIRMWARE_LIBRARIES}/${arch}
      COMMAND ${CMAKE_COMMAND} -E rm -f ${library}
      COMMAND ${RISCV_AR} rcsD ${library} ${OBJECTS}
      DEPENDS ${OBJECTS} VERBATIM COMMENT "Archiving ${name} for ${arch}")
    list(APPEND libraries ${library})
  endforeach()
  add_custom_target(firmware_library_${name} DEPENDS ${libraries})
endfunction()

function(fabricvp_firmware name)
  cmake_parse_arguments(fw "DISK" "ARCH;ABI;LINKER" "SOURCES;LIBRARIES;INCLUDES;OPTIONS;LINK;IMAGES" ${ARGN})
  if(NOT fw_ARCH)
    set(fw_ARCH rv64gc)
  endif()
  if(NOT fw_ABI)
    firmware_abi(${fw_ARCH})
    set(fw_ABI ${ABI})
  endif()
  get_filename_component(fw_LINKER ${fw_LINKER} ABSOLUTE)
  firmware_flags(${fw_ARCH} ${fw_ABI} "${fw_INCLUDES}" "${fw_OPTIONS}")
  set(flags ${FLAGS})
  firmware_objects(firmware_${name} ${name} ${fw_SOURCES})
  set(objects ${OBJECTS})
  set(libraries "")
  foreach(library ${fw_LIBRARIES})
    list(APPEND libraries ${FABRICVP_FIRMWARE_LIBRARIES}/${fw_ARCH}/lib${library}.a)
  endforeach()
  if(fw_IMAGES)
    set(assembly "    .section .rodata.images, \"a\"\n    .globl images\n    .balign 8\nimages:\n")
    set(embedded "")
    foreach(embed ${fw_IMAGES})
      string(APPEND assembly "    .dword name_${embed}, start_${embed}, end_${embed} - start_${embed}\n")
      list(APPEND embedded ${FABRICVP_EMBEDDED_DIR}/${embed}.elf)
    endforeach()
    string(APPEND assembly "    .dword 0, 0, 0\n")
    foreach(embed ${fw_IMAGES})
      string(APPEND assembly "name_${embed}: .asciz \"${embed}\"\n    .balign 16\nstart_${embed}: .incbin \"${FABRICVP_EMBEDDED_DIR}/${embed}.elf\"\nend_${embed}:\n")
    endforeach()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/firmware_${name}_images.S)
    file(GENERATE OUTPUT ${source} CONTENT "${assembly}")
    set(object ${CMAKE_CURRENT_BINARY_DIR}/firmware_${name}/images.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/firmware_${name}
      COMMAND ${RISCV_GCC} ${flags} -c ${source} -o ${object}
      DEPENDS ${source} ${embedded} VERBATIM COMMENT "Putting images into ${name}")
    list(APPEND objects ${object})
  endif()
  set(image ${FABRICVP_FIRMWARE_DIR}/${name}.elf)
  add_custom_command(OUTPUT ${image}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${FABRICVP_FIRMWARE_DIR}
    COMMAND ${RISCV_GCC} ${flags} -nostdlib -static -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments
      -T ${fw_LINKER} -Wl,--whole-archive ${libraries} -Wl,--no-whole-archive ${objects} ${fw_LINK} -lgcc -o ${image}
    DEPENDS ${libraries} ${objects} ${fw_LINKER} VERBATIM COMMENT "Linking ${name}.elf")
  set(stripped ${FABRICVP_EMBEDDED_DIR}/${name}.elf)
  add_custom_command(OUTPUT ${stripped}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${FABRICVP_EMBEDDED_DIR}
    COMMAND ${RISCV_OBJCOPY} --strip-debug ${image} ${stripped}
    DEPENDS ${image} VERBATIM COMMENT "Stripping ${name}.elf")
  set(disk "")
  if(fw_DISK)
    set(disk ${FABRICVP_FIRMWARE_DIR}/${name}.img)
    add_custom_command(OUTPUT ${disk}
      COMMAND ${RISCV_OBJCOPY} -O binary ${image} ${disk}
      COMMAND truncate -s %1M ${disk}
      DEPENDS ${image} VERBATIM COMMENT "Writing ${name}.img")
  endif()
  add_custom_target(firmware_${name} ALL DEPENDS ${image} ${stripped} ${disk})
endfunction()
