# SPDX-License-Identifier: Apache-2.0
# Xbyak, a header, writes code of the host (models/riscv/translator.h). FABRICVP_XBYAK is the folder that has it, or
# empty where there is none, or the host is no x86-64: then all code is interpreted.
find_path(XBYAK_INCLUDE_DIR xbyak/xbyak.h)
if(XBYAK_INCLUDE_DIR AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(FABRICVP_XBYAK ${XBYAK_INCLUDE_DIR})
else()
  message(STATUS "Harts interpret their code: no Xbyak for ${CMAKE_SYSTEM_PROCESSOR}")
endif()
