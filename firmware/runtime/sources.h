/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine without a compiler has for programs from their source. */
#ifndef FABRICVP_RUNTIME_SOURCES_H
#define FABRICVP_RUNTIME_SOURCES_H

/* Names of images that stand for sources, with ':' between; NULL: none do. */
const char* source_images(void);
/* Keeps a source, for a compiler elsewhere, if that is wanted. `options` may be NULL. */
void source_keep(const char* text, const char* options);

#endif
