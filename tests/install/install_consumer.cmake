# SPDX-License-Identifier: Apache-2.0
# Installs the build into the folder WORK, builds a project against it and runs that.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: status ${status}\n${output}")
  endif()
endfunction()
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component development)
# Without the source tree on any path, and moved: the package must not remember where it was built.
file(RENAME ${WORK}/prefix ${WORK}/moved)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/consumer -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${WORK}/moved
  -DSYSTEMC_INCLUDE_DIR=${SYSTEMC_INCLUDE_DIR} -DSYSTEMC_LIBRARY=${SYSTEMC_LIBRARY} -DCMAKE_EXE_LINKER_FLAGS=${CMAKE_EXE_LINKER_FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
# A plug-in and the program, both of the installed package.
run(${WORK}/moved/bin/fabricvp describe ${SOURCE}/consumer/lamp.yaml --plugin ${WORK}/build/liblamp.so)
