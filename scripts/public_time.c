/* SPDX-License-Identifier: Apache-2.0 */
/* Linked to programs that draw their input by the time of day (public_suites.py), so that both versions draw the same.
 */
#include <time.h>

time_t time(time_t* at) {
    if (at) *at = 1;
    return 1;
}
