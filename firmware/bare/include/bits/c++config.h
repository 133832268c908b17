/* SPDX-License-Identifier: Apache-2.0 */
/* The C++ library's configuration, less what picolibc and one thread do not have. Templates that its binary would bring
 * are made where they are used. */
#ifndef FABRICVP_BARE_CPPCONFIG_H
#define FABRICVP_BARE_CPPCONFIG_H

#include_next <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#undef _GLIBCXX_HAS_GTHREADS
#undef _GLIBCXX_HAVE_TIMESPEC_GET

#endif
