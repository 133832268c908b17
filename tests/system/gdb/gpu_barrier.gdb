# SPDX-License-Identifier: Apache-2.0
# Barriers, lanes that part, local memory.
#% gpu.yaml --app reduction --size 512
#= 0
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning: (?!Source file))
source @SCRIPTS@/gpu.gdb
set print thread-events off
file @FIRMWARE@/gpu_apps.elf
add-symbol-file @FIRMWARE@/reduction.elf
target remote 127.0.0.1:@PORT@
monitor kernel reduction
tbreak reduction_body
continue
#> Thread [0-9]+ hit Temporary breakpoint 1, reduction_body .*
set $me = $_thread
next
#> 10.*
next
#> 11.*
# `next` over a barrier waits for the other wavefronts of the work-group, which run meanwhile
next
#> .*
print $_thread == $me
#> \$[0-9]+ = 1

# a breakpoint in a loop: each wavefront stops, at most once a round, and shows the lanes that came there
break kernels/reduction.c:13 if $wavefront == 0 && half == 32
continue
#> Thread [0-9]+ hit Breakpoint 2.*
print $local_x == $lane && half == 32
#> \$[0-9]+ = 1
set $sum = sum[$local_x] + sum[$local_x + 32]
set $group = $group_x
info threads
#> .*wavefront [0-9]+ reduction group [01],0,0 lane [0-9]+, .*barrier \(\).*
delete
tbreak kernels/reduction.c:13 if $wavefront == 0 && half == 16 && $group_x == $group
continue
#> Thread [0-9]+ hit Temporary breakpoint 3.*
print sum[$local_x] == $sum
#> \$[0-9]+ = 1
# the branch: lanes below 16 go on, the others wait behind
print/x $lanes_active
#> \$[0-9]+ = 0xffffffffffffffff
lane 3
set scheduler-locking on
stepi
print/x $lanes_active
#> \$[0-9]+ = 0xffff
set $here = $pc
lane 40
print $lane
#> \$[0-9]+ = 40
print $pc > $here
#> \$[0-9]+ = 1
# nobody may run but this wavefront: at the barrier the step ends
delete
set scheduler-locking on
python
for _ in range(40):
    gdb.execute("stepi", to_string=True)
print("stepped")
end
#> stepped
info threads
#> .*wavefront [0-9]+ reduction group [01],0,0 lane 40, (barrier|fence|ready).*
set scheduler-locking off
continue
#> \[Inferior 1 \(process 1\) exited normally\]
