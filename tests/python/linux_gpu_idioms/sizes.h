/* SPDX-License-Identifier: Apache-2.0 */
#error "of another folder"
