# SPDX-License-Identifier: Apache-2.0
# Lanes, compute units, dispatcher.
add_library(fabricvp_lane_bench STATIC lane_bench.cpp)
target_link_libraries(fabricvp_lane_bench PUBLIC fabricvp_gpu fabricvp_catch)
target_compile_definitions(fabricvp_lane_bench PUBLIC FABRICVP_FIRMWARE_DIR="${PROJECT_BINARY_DIR}/firmware")
target_include_directories(fabricvp_lane_bench PUBLIC ${PROJECT_SOURCE_DIR}/firmware/gpu)
fabricvp_unit_test(gpu_kernels SOURCES test_kernels.cpp LIBS fabricvp_lane_bench TIMEOUT 60)
add_dependencies(test_gpu_kernels firmware_vectoradd)
