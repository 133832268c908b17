/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/pci/copy_engine.h"
