/* SPDX-License-Identifier: Apache-2.0 */
/* For sources that include it: what kernels need is there already (gpu/hip/device.h), and host calls are not. */
