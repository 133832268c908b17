# SPDX-License-Identifier: Apache-2.0
# fabricvp_fuzzer(NAME SOURCES files… ROUNDS n LIBS modules…): called with rounds and seed. The code under test is compiled
# with sanitizers in every build, because a fuzzer without them sees little.
function(fabricvp_fuzzer name)
  cmake_parse_arguments(fuzzer "" "ROUNDS" "SOURCES;LIBS" ${ARGN})
  add_executable(fuzz_${name} ${fuzzer_SOURCES})
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz ${PROJECT_SOURCE_DIR}/tests/unit)
  target_link_libraries(fuzz_${name} PRIVATE ${fuzzer_LIBS})
  if(NOT FABRICVP_SANITIZE)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=address,undefined)
  endif()
  add_test(NAME fuzz.${name} COMMAND fuzz_${name} ${fuzzer_ROUNDS})
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 300)
endfunction()
