/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU applications: A(name, default size, what the size counts, bytes of device memory an item, what it does). Plain C99. */
#ifndef FABRICVP_ABI_APPS_H
#define FABRICVP_ABI_APPS_H

#define GPU_APPS(A) \
    A(vectoradd, 1048576, "elements", 12, "adds two vectors of floats")

#endif
