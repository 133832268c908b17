# SPDX-License-Identifier: Apache-2.0
# A kernel in OpenCL C: a breakpoint on a line, variables of lanes, a step into a function and out of it.
#% gpu.yaml --kernel-elf @FIRMWARE@/gdb_program.elf --kernel-name scale --grid 128 --group 64 --arg zeros:512B --arg u32:100
#= 0
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning: (?!Source file))
source @SCRIPTS@/gpu.gdb
set print thread-events off
file @FIRMWARE@/gpu_apps.elf
add-symbol-file @FIRMWARE@/gdb_program.elf
target remote 127.0.0.1:@PORT@
monitor kernel scale
#> breakpoints stop wavefronts of kernel scale only
break gpu_program.cl:13 if $group_x == 1
continue
#> Thread [0-9]+ hit Breakpoint 1, scale \(x=0x8[0-9a-f]+, n=100\) at .*gpu_program.cl:13
#> 13\s+barrier\(CLK_LOCAL_MEM_FENCE\);
lane
#> node0\.gpu0 cu[0-3] wavefront 0 scale group 1,0,0 lane 0, .*
print i
#> \$[0-9]+ = 64
print value
#> \$[0-9]+ = 64
# variables in memory are a lane's, as registers are
lane 5
print i
#> \$[0-9]+ = 69
print value
#> \$[0-9]+ = 69
print x[5]
#> \$[0-9]+ = 0
# variables of the work-group
print tile[5]
#> \$[0-9]+ = 69
print tile[63]
#> \$[0-9]+ = 127
print sizeof tile
#> \$[0-9]+ = 256
set var tile[63] = 5
print tile[62] + tile[63]
#> \$[0-9]+ = 131
set var tile[63] = 127
print &tile
#> \$[0-9]+ = \(float \(\*\)\[64\]\) 0x20000000.*
delete
tbreak gpu_program.cl:14 if $group_x == 1
continue
#> Thread [0-9]+ hit Temporary breakpoint 2, scale .*
lane 7
step
#> twice \(x=120\) at .*gpu_program.cl:4
#> 4\s+float y = 2 \* x;
backtrace
#> #0 +twice \(x=120\) at .*
#> #1 +0x[0-9a-f]+ in scale \(x=0x8[0-9a-f]+, n=100\) at .*gpu_program.cl:14
next
print y
#> \$[0-9]+ = 240
finish
#> Value returned is \$[0-9]+ = 240
continue
#> \[Inferior 1 \(process 1\) exited normally\]
