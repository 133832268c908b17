# SPDX-License-Identifier: Apache-2.0
# The dialogue of docs/reference/gpu.md, command by command.
#% gpu.yaml --app vectoradd --size 256
#= 0
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|optimized out>$)
source @SCRIPTS@/gpu.gdb
set print thread-events off
file @FIRMWARE@/gpu_apps.elf
add-symbol-file @FIRMWARE@/cp.elf
add-symbol-file @FIRMWARE@/vectoradd.elf
target remote 127.0.0.1:@PORT@
monitor kernel vectoradd
#> breakpoints stop wavefronts of kernel vectoradd only
tbreak kernels/vectoradd.c:7
continue
#> Thread [0-9]+ hit Temporary breakpoint 1, vectoradd_body \(args=0x40000000\) at .*vectoradd.c:7
info threads
#> .*node0\.gpu0 cu0 wavefront 2 vectoradd group 0,0,0 lane 0, .*
print *args
#> \$1 = {a = 0x[0-9a-f]+, b = 0x[0-9a-f]+, c = 0x[0-9a-f]+, n = 256}
thread 5
#> \[Switching to thread 5 .*
lane 5
#> lane 5; GDB shows its registers after `maintenance flush register-cache`
#> .*vectoradd.c:7
print i
#> \$2 = 133
print args->a[i]
#> \$3 = 0\.0280656815
continue
#> \[Inferior 1 \(process 1\) exited normally\]
