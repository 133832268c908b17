// SPDX-License-Identifier: Apache-2.0
#define LEVELS 3
#include "paging.h"
