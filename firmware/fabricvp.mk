# SPDX-License-Identifier: Apache-2.0
# For Makefiles outside of the tree:
#
#     include $(shell fabricvp sdk)/fabricvp.mk
#     mine.elf: mine.c
#     	$(build_kernel)          # a kernel for the GPU's lanes
#     boot.elf: main.c
#     	$(build_firmware)        # a program that stands on firmware/lib
#
# Flags are those of cmake/firmware.cmake and firmware/gpu/CMakeLists.txt.
FABRICVP_SDK := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
RISCV_GCC ?= riscv64-unknown-elf-gcc
# Where kernels have <math.h> and its functions from; in Debian, the package picolibc-riscv64-unknown-elf.
PICOLIBC ?= /usr/lib/picolibc/riscv64-unknown-elf

fabricvp_flags := -mcmodel=medany -ffreestanding -O2 -g -Wall -Wextra -fno-common -fno-tree-loop-distribute-patterns \
  -ffunction-sections -fdata-sections -I$(FABRICVP_SDK) -nostdlib -static -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments
fabricvp_libgcc = $(dir $(shell $(RISCV_GCC) -march=rv64imafd -mabi=lp64d -print-libgcc-file-name))
fabricvp_libc = $(PICOLIBC)/lib/release/$(shell $(RISCV_GCC) -march=rv64imafd -mabi=lp64d -print-multi-directory)

define build_kernel
$(if $(wildcard $(fabricvp_libc)/libc.a),,$(error kernels need picolibc for RISC-V (Debian: apt install picolibc-riscv64-unknown-elf; elsewhere: PICOLIBC=FOLDER); there is no $(fabricvp_libc)/libc.a))
@echo "building $@"
@$(RISCV_GCC) -march=rv64imafd_zicsr_zba_zbb -mabi=lp64d $(fabricvp_flags) -I$(FABRICVP_SDK)/gpu -idirafter $(PICOLIBC)/include -DFABRICVP_KERNEL -msmall-data-limit=0 -fno-jump-tables \
  $(CFLAGS) -T $(FABRICVP_SDK)/gpu/gpu.ld $(filter %.c %.S,$^) $(FABRICVP_SDK)/gpu/math/trunc.c -L$(fabricvp_libgcc) -L$(fabricvp_libc) -lc -lgcc -o $@
endef

# What a program does not use of firmware/lib is left out by the linker.
define build_firmware
@echo "building $@"
@$(RISCV_GCC) -march=rv64gc_zihintpause -mabi=lp64d $(fabricvp_flags) $(CFLAGS) -T $(FABRICVP_SDK)/lib/host.ld \
  $(wildcard $(FABRICVP_SDK)/lib/*.S $(FABRICVP_SDK)/lib/*.c $(FABRICVP_SDK)/drivers/pci/*.c) $(filter %.c %.S,$^) -lgcc -o $@
endef
