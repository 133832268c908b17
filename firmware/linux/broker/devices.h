/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_LINUX_BROKER_DEVICES_H
#define FABRICVP_LINUX_BROKER_DEVICES_H

#include "drivers/pci/pci.h"

/* Opens all GPUs. \returns false with a line on standard error if the kernel has not handed one over */
bool pci_hold_all(struct pci_host* host);
/* Resets a GPU, which then reaches the host's memory again. */
bool pci_reset(struct pci_function* function);
/* The file of a BAR, for processes that map it. */
int pci_bar_file(const struct pci_function* function, unsigned bar);
/* The file that tells of interrupts by INTA, one each time after pci_unmask_interrupt(); -1: the machine has none. */
int pci_interrupt_file(const struct pci_function* function);
void pci_unmask_interrupt(const struct pci_function* function);
/* Of the page that all processes map. */
int devices_shared_file(void);

#endif
