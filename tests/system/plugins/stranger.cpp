// SPDX-License-Identifier: Apache-2.0
// A shared library of another purpose.
extern "C" int stranger() { return 1; }
