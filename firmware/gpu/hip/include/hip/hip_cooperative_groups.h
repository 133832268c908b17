/* SPDX-License-Identifier: Apache-2.0 */
#include <cooperative_groups.h>
