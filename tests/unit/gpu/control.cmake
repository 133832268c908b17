# SPDX-License-Identifier: Apache-2.0
# The command processor and what tells of it.
fabricvp_unit_test(gpu_packet_text SOURCES packet_text_test.cpp LIBS fabricvp_gpu TIMEOUT 60)
fabricvp_unit_test(gpu_dispatch_port SOURCES dispatch_port_test.cpp LIBS fabricvp_gpu TIMEOUT 60)
target_include_directories(test_gpu_dispatch_port PRIVATE ${PROJECT_SOURCE_DIR}/tests)
fabricvp_unit_test(gpu_cp_bus SOURCES cp_bus_test.cpp LIBS fabricvp_gpu TIMEOUT 60)
target_include_directories(test_gpu_cp_bus PRIVATE ${PROJECT_SOURCE_DIR}/tests)
