/* SPDX-License-Identifier: Apache-2.0 */
/* As C sources of programs in CUDA that include none of its headers. */
int choose_device(void) { return cudaSetDevice(0); }
