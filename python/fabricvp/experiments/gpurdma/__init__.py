# SPDX-License-Identifier: Apache-2.0
"""RDMA that kernels control (GPUrdma) beside what was published of it: where queues lie, and how messages are
posted."""
