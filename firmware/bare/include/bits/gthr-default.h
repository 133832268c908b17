/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, in place of POSIX's. */
#include <bits/gthr-single.h>
