#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tell.sh TEXT: a line on the terminal of a `pip install .`, which shows nothing that a build prints unless it is told
# to (-v). Without a terminal, or with FABRICVP_PROGRESS=0, nothing happens.
[ "$FABRICVP_PROGRESS" = 0 ] && exit 0
(printf '\r\033[K  fabricvp: %s\n' "$1" >/dev/tty) 2>/dev/null
exit 0
