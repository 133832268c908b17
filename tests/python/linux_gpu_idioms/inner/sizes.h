/* SPDX-License-Identifier: Apache-2.0 */
#define INNER 41
