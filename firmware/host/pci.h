/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/pci/pci.h"
