# SPDX-License-Identifier: Apache-2.0
# Memory: from coalescer to HBM.
foreach(part memory_latency memory_coherence memory_spans memory_traffic)
  fabricvp_unit_test(gpu_${part} SOURCES ${part}_test.cpp LIBS fabricvp_gpu TIMEOUT 60)
  target_include_directories(test_gpu_${part} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endforeach()
