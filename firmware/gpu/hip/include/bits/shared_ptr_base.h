/* SPDX-License-Identifier: Apache-2.0 */
/* The C++ library's header of this name has __attribute__((__noinline__)), where CUDA's word would be an attribute in
 * an attribute. */
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
