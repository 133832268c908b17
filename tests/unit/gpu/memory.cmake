# SPDX-License-Identifier: Apache-2.0
# Memory: from coalescer to HBM.
foreach(part memory_latency memory_coherence memory_demand memory_device memory_locks memory_spans memory_traffic cp_cache bar)
  fabricvp_unit_test(gpu_${part} SOURCES ${part}_test.cpp LIBS fabricvp_gpu TIMEOUT 60)
  target_include_directories(test_gpu_${part} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endforeach()
fabricvp_unit_test(gpu_coalescer SOURCES coalescer_test.cpp LIBS fabricvp_gpu TIMEOUT 60)
fabricvp_unit_test(gpu_recording SOURCES recording_test.cpp LIBS fabricvp_gpu TIMEOUT 120)
fabricvp_unit_test(gpu_remote_order SOURCES remote_order_test.cpp LIBS fabricvp_gpu TIMEOUT 60)
# Through a whole GPU, with kernels.
include(firmware)
fabricvp_gpu_kernel(test_memory SOURCES kernels/memory.c)
fabricvp_unit_test(gpu_core SOURCES core_test.cpp LIBS fabricvp_gpu TIMEOUT 60)
target_include_directories(test_gpu_core PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_compile_definitions(test_gpu_core PRIVATE FABRICVP_FIRMWARE_DIR="${PROJECT_BINARY_DIR}/firmware")
add_dependencies(test_gpu_core firmware_test_memory)
# The side that hosts see, with the command processor's firmware behind it.
foreach(part front sdma)
  fabricvp_unit_test(gpu_${part} SOURCES ${part}_test.cpp LIBS fabricvp_gpu TIMEOUT 60)
  target_include_directories(test_gpu_${part} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endforeach()
target_compile_definitions(test_gpu_front PRIVATE FABRICVP_FIRMWARE_DIR="${PROJECT_BINARY_DIR}/firmware")
add_dependencies(test_gpu_front firmware_cp)
