# SPDX-License-Identifier: Apache-2.0
# For Makefiles outside of the tree:
#
#     include $(shell fabricvp sdk)/fabricvp.mk
#     mine.elf: mine.c
#     	$(build_kernel)          # a kernel for the GPU's lanes
#     mine.elf: mine.cl
#     	$(build_program)         # kernels in OpenCL C, HIP or CUDA; options of `fabricvp cc` in CCFLAGS
#     boot.elf: main.c
#     	$(build_firmware)        # a program that stands on firmware/lib
#     host.elf: host.c mine.elf
#     	$(build_gpu_host)        # one with the driver of GPUs, and kernels inside
#     app.elf: app.c mine.elf
#     	$(build_compute_host)    # one in HIP or OpenCL, with a C library; mine.elf is of $(build_program)
#     processor.elf: service.c
#     	$(build_processor_firmware)  # the command processor's, with services of one's own
#     processor.elf: CP_SERVICES := my_service
#     plugin: CMakeLists.txt
#     	$(build_plugin)          # a plug-in in C++
#
# Flags are those of cmake/firmware.cmake and firmware/gpu/CMakeLists.txt.
FABRICVP_SDK := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
RISCV_GCC ?= riscv64-unknown-elf-gcc
RISCV_OBJCOPY ?= $(RISCV_GCC:gcc=objcopy)
# Where kernels have <math.h> and its functions from; in Debian, the package picolibc-riscv64-unknown-elf.
PICOLIBC ?= /usr/lib/picolibc/riscv64-unknown-elf

# Ends in one line where the compiler is missing.
fabricvp_compiler = $(if $(shell command -v $(RISCV_GCC)),,$(error programs need $(RISCV_GCC) (Debian: apt install \
  gcc-riscv64-unknown-elf$(if $(wildcard $(PICOLIBC)/lib),, picolibc-riscv64-unknown-elf))))

fabricvp_flags := -mcmodel=medany -ffreestanding -O2 -g -Wall -Wextra -fno-common -fno-tree-loop-distribute-patterns \
  -ffunction-sections -fdata-sections -I$(FABRICVP_SDK) -nostdlib -static -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments
fabricvp_libgcc = $(dir $(shell $(RISCV_GCC) -march=rv64imafd -mabi=lp64d -print-libgcc-file-name))
fabricvp_libc = $(PICOLIBC)/lib/release/$(shell $(RISCV_GCC) -march=rv64imafd -mabi=lp64d -print-multi-directory)

define build_kernel
$(fabricvp_compiler)
$(if $(wildcard $(fabricvp_libc)/libc.a),,$(error kernels need picolibc for RISC-V (Debian: apt install picolibc-riscv64-unknown-elf; elsewhere: PICOLIBC=FOLDER); there is no $(fabricvp_libc)/libc.a))
@echo "building $@"
@$(RISCV_GCC) -march=rv64imafd_zicsr_zba_zbb -mabi=lp64d $(fabricvp_flags) -I$(FABRICVP_SDK)/gpu -idirafter $(PICOLIBC)/include -DFABRICVP_KERNEL -msmall-data-limit=0 -fno-jump-tables \
  --param=max-grow-copy-bb-insns=0 @$(FABRICVP_SDK)/gpu/registers.flags $(CFLAGS) -T $(FABRICVP_SDK)/gpu/gpu.ld $(filter %.c %.S,$^) $(FABRICVP_SDK)/gpu/math/trunc.c -L$(fabricvp_libgcc) -L$(fabricvp_libc) -lc -lgcc -o $@
endef

PYTHON ?= python3
define build_program
@echo "building $@"
@$(PYTHON) -m fabricvp cc $(filter %.cl %.hip %.cu,$^) -o $@ $(CCFLAGS)
endef

# A plug-in in C++, by CMake in the folder build. CMake is asked each time, so that it goes on after what it lacked is there.
define build_plugin
$(if $(and $(shell command -v cmake),$(shell for tool in $(CXX) c++ clang++; do command -v $$tool; done; :)),,$(error plug-ins need CMake and a C++ compiler (Debian: apt install cmake g++ libsystemc-dev libfmt-dev libboost-dev)))
@cmake -S . -B build -DCMAKE_PREFIX_PATH=$$($(PYTHON) -m fabricvp sdk --cmake) >/dev/null
@cmake --build build
endef

# What a program does not use of firmware/lib is left out by the linker.
define build_firmware
$(fabricvp_compiler)
@echo "building $@"
@$(RISCV_GCC) -march=rv64gc_zihintpause -mabi=lp64d $(fabricvp_flags) $(CFLAGS) -T $(FABRICVP_SDK)/lib/host.ld \
  $(wildcard $(FABRICVP_SDK)/lib/*.S $(FABRICVP_SDK)/lib/*.c $(FABRICVP_SDK)/drivers/pci/*.c) $(filter %.c %.S,$^) -lgcc -o $@
endef

# The same with the driver of GPUs. Images that are linked in have no debug information, so that its paths change no
# addresses: the command processor's firmware, and the kernels among the prerequisites, known by their files' names.
fabricvp_images = $(FABRICVP_SDK)/../firmware/cp.elf $(filter %.elf,$^)
define build_images
$(fabricvp_compiler)
@rm -rf $@.images && mkdir $@.images
@for file in $(fabricvp_images); do $(RISCV_OBJCOPY) --strip-debug $$file $@.images/$$(basename $$file) 2>&1 | \
  { grep -v "section .\.tdata. not in segment" || :; }; test -s $@.images/$$(basename $$file) || exit 1; done
@{ printf '.section .rodata.images, "a"\n.globl images\n.balign 8\nimages:\n'; \
  for name in $(basename $(notdir $(fabricvp_images))); do printf '.dword name_%s, start_%s, end_%s - start_%s\n' $$name $$name $$name $$name; done; \
  printf '.dword 0, 0, 0\n'; \
  for name in $(basename $(notdir $(fabricvp_images))); do \
    printf 'name_%s: .asciz "%s"\n.balign 16\nstart_%s: .incbin "$@.images/%s.elf"\nend_%s:\n' $$name $$name $$name $$name $$name; done; } >$@.images/images.S
endef
define build_gpu_host
@echo "building $@"
$(build_images)
@$(RISCV_GCC) -march=rv64gc_zihintpause -mabi=lp64d $(fabricvp_flags) -ffp-contract=off $(CFLAGS) -T $(FABRICVP_SDK)/lib/host.ld \
  $(wildcard $(FABRICVP_SDK)/lib/*.S $(FABRICVP_SDK)/lib/*.c $(FABRICVP_SDK)/drivers/pci/*.c $(FABRICVP_SDK)/drivers/gpu/*.c) \
  $(filter %.c %.S,$^) $@.images/images.S -lgcc -o $@
@rm -rf $@.images
endef

# The same with the run-times of HIP and OpenCL, and with picolibc, whose headers come behind the compiler's.
fabricvp_host_libc = $(PICOLIBC)/lib/release/$(shell $(RISCV_GCC) -march=rv64imafdc -mabi=lp64d -print-multi-directory)
define build_compute_host
$(fabricvp_compiler)
$(if $(wildcard $(fabricvp_host_libc)/libc.a),,$(error programs in HIP and OpenCL need picolibc for RISC-V (Debian: apt install picolibc-riscv64-unknown-elf; elsewhere: PICOLIBC=FOLDER); there is no $(fabricvp_host_libc)/libc.a))
@echo "building $@"
$(build_images)
@$(RISCV_GCC) -march=rv64gc_zihintpause -mabi=lp64d $(fabricvp_flags) -ffp-contract=off -I$(FABRICVP_SDK)/runtime/include \
  -isystem $(PICOLIBC)/include $(CFLAGS) -T $(FABRICVP_SDK)/lib/host.ld \
  $(wildcard $(FABRICVP_SDK)/lib/*.S $(FABRICVP_SDK)/lib/*.c $(FABRICVP_SDK)/drivers/pci/*.c $(FABRICVP_SDK)/drivers/gpu/*.c \
    $(FABRICVP_SDK)/runtime/*.c $(FABRICVP_SDK)/runtime/*/*.c) \
  $(filter %.c %.S,$^) $@.images/images.S -L$(fabricvp_host_libc) -lc -lgcc -o $@
@rm -rf $@.images
endef

# The command processor's firmware (firmware/cp) with the services that CP_SERVICES names, behind the two of its own.
define build_processor_firmware
$(fabricvp_compiler)
@echo "building $@"
@$(RISCV_GCC) -march=rv64imac_zicsr_zihintpause -mabi=lp64 $(fabricvp_flags) -fno-strict-aliasing \
  '-DCP_OWN_SERVICES=$(foreach service,$(CP_SERVICES),CP_SERVICE($(service)))' $(CFLAGS) -T $(FABRICVP_SDK)/cp/cp.ld \
  $(wildcard $(FABRICVP_SDK)/cp/*.S $(FABRICVP_SDK)/cp/*.c) $(FABRICVP_SDK)/network/service.c $(filter %.c %.S,$^) -lgcc -o $@
endef
