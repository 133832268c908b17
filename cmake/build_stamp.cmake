# SPDX-License-Identifier: Apache-2.0
# Writes STAMP, a header with the project's VERSION and a hash of the HEADERS (a file with their paths below SOURCE).
file(READ ${HEADERS} headers)
list(SORT headers)
set(all "")
foreach(header ${headers})
  file(SHA256 ${SOURCE}/${header} hash)
  string(APPEND all "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 16 hash)
file(CONFIGURE OUTPUT ${STAMP} CONTENT "// SPDX-License-Identifier: Apache-2.0
// Made by the build (cmake/build_stamp.cmake).
#pragma once

#define FABRICVP_STAMP_VERSION \"${VERSION}\"
#define FABRICVP_STAMP_HEADERS \"${hash}\"
")
