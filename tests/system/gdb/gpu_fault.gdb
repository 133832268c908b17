# SPDX-License-Identifier: Apache-2.0
# A lane that goes wrong stops the debugger, and stays to be looked at; the platform goes on.
#% gpu.yaml --app vectoradd --size 256
#= 1
#! .*(Remote failure|Ignoring packet error|Cannot insert|warning: (?!Source file))
source @SCRIPTS@/gpu.gdb
set print thread-events off
file @FIRMWARE@/gpu_apps.elf
add-symbol-file @FIRMWARE@/vectoradd.elf
target remote 127.0.0.1:@PORT@
monitor kernel vectoradd
tbreak kernels/vectoradd.c:7 if $wavefront == 2
continue
#> Thread [0-9]+ hit Temporary breakpoint 1, vectoradd_body .*
lane 17
python
for _ in range(50):
    if "flw" in gdb.execute("x/i $pc", to_string=True): break
    gdb.execute("stepi", to_string=True)
end
set $where = $pc
set var $a3 = 0x7000000000
continue
#> Thread [0-9]+ received signal SIGSEGV, Segmentation fault\.
lane
#> .*wavefront [0-9]+ vectoradd group 0,0,0 lane 17, fault: unmapped, address 0x7000000000
print $pc == $where
#> \$[0-9]+ = 1
print/x $a3
#> \$[0-9]+ = 0x7000000000
backtrace 1
#> #0 .* vectoradd_body \(args=0x40000000\) at .*vectoradd.c:7
continue
#> \[Inferior 1 \(process 1\) exited with code 01\]
