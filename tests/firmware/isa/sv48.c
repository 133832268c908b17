// SPDX-License-Identifier: Apache-2.0
#define LEVELS 4
#include "paging.h"
