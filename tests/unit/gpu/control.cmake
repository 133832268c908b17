# SPDX-License-Identifier: Apache-2.0
# The command processor and what tells of it.
fabricvp_unit_test(gpu_packet_text SOURCES packet_text_test.cpp LIBS fabricvp_gpu TIMEOUT 60)
