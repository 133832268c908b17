/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the C++ library's header of this name, which is for an operating system. */
