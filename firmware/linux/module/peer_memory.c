// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Pages (struct page) for the memory of FabricVP's GPUs, so that the kernel pins it as other
 * memory, and ibv_reg_mr() takes it. Each GPU has a device /dev/peer_memory-0000:04:00.0, whose
 * mapping at an offset is the memory there.
 *
 * The kernel's own peer-to-peer DMA (CONFIG_PCI_P2PDMA) is not needed: pages of type
 * MEMORY_DEVICE_GENERIC may be pinned for long, and their DMA address is the address of the BAR,
 * which is right where CPU and bus addresses are the same and no IOMMU stands between. The driver
 * of the function stays what it is: nothing is claimed.
 */
#include <linux/memremap.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#define GPU_VENDOR 0xfab0
#define GPU_DEVICE 0x1f10
#define MEMORY_BAR 0

struct peer_memory {
	struct miscdevice device;
	struct dev_pagemap pages;
	phys_addr_t start;
	resource_size_t bytes;
	char name[32];
};

static struct peer_memory *of_file(struct file *file)
{
	return container_of(file->private_data, struct peer_memory, device);
}

static vm_fault_t peer_fault(struct vm_fault *vmf)
{
	const struct peer_memory *memory = of_file(vmf->vma->vm_file);

	return vmf_insert_page(vmf->vma, vmf->address,
			       pfn_to_page(PHYS_PFN(memory->start) + vmf->pgoff));
}

static const struct vm_operations_struct peer_vm_operations = {
	.fault = peer_fault,
};

static int peer_mmap(struct file *file, struct vm_area_struct *vma)
{
	u64 pages = of_file(file)->bytes >> PAGE_SHIFT;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_pgoff > pages ||
	    vma_pages(vma) > pages - vma->vm_pgoff)
		return -EINVAL;
	vm_flags_set(vma, VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &peer_vm_operations;
	return 0;
}

static loff_t peer_llseek(struct file *file, loff_t offset, int whence)
{
	return fixed_size_llseek(file, offset, whence, of_file(file)->bytes);
}

static const struct file_operations peer_operations = {
	.owner = THIS_MODULE,
	.llseek = peer_llseek,
	.mmap = peer_mmap,
};

/* Compound pages as large as they can be: those have few struct pages of their own. */
static unsigned long page_order(const struct peer_memory *memory)
{
	return ilog2(min3(memory->bytes, (resource_size_t)SZ_1G, memory->start & -memory->start)) -
	       PAGE_SHIFT;
}

static int peer_add(struct pci_dev *function)
{
	struct peer_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	void *mapped;
	int error;

	if (!memory)
		return -ENOMEM;
	memory->start = pci_resource_start(function, MEMORY_BAR);
	memory->bytes = pci_resource_len(function, MEMORY_BAR);
	if (!memory->start || !memory->bytes) {
		error = -ENODEV; /* the BAR has no address */
		goto no_pages;
	}
	memory->pages.type = MEMORY_DEVICE_GENERIC;
	memory->pages.range.start = memory->start;
	memory->pages.range.end = memory->start + memory->bytes - 1;
	memory->pages.nr_range = 1;
	memory->pages.vmemmap_shift = page_order(memory);
	mapped = memremap_pages(&memory->pages, dev_to_node(&function->dev));
	if (IS_ERR(mapped)) {
		error = PTR_ERR(mapped);
		goto no_pages;
	}
	snprintf(memory->name, sizeof(memory->name), "peer_memory-%s", pci_name(function));
	memory->device.minor = MISC_DYNAMIC_MINOR;
	memory->device.name = memory->name;
	memory->device.mode = 0600;
	memory->device.fops = &peer_operations;
	error = misc_register(&memory->device);
	if (!error)
		return 0;
	memunmap_pages(&memory->pages);
no_pages:
	pci_err(function, "no pages for its memory: error %d\n", error);
	kfree(memory);
	return error;
}

/* Without an exit: pages that an adapter still uses must not go. */
static int __init peer_init(void)
{
	struct pci_dev *function = NULL;
	unsigned int added = 0;

	while ((function = pci_get_device(GPU_VENDOR, GPU_DEVICE, function)))
		added += !peer_add(function);
	return added ? 0 : -ENODEV;
}
module_init(peer_init);

MODULE_DESCRIPTION("Pages for the memory of FabricVP's GPUs");
MODULE_LICENSE("GPL");
