# SPDX-License-Identifier: Apache-2.0
# One lane is sent elsewhere by hand: it skips a line, and meets the others again.
#% gpu.yaml --app vectoradd --size 256
#= 1
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning: (?!Source file))
source @SCRIPTS@/gpu.gdb
set print thread-events off
file @FIRMWARE@/gpu_apps.elf
add-symbol-file @FIRMWARE@/vectoradd.elf
target remote 127.0.0.1:@PORT@
monitor kernel vectoradd
tbreak kernels/vectoradd.c:7
continue
#> Thread [0-9]+ hit Temporary breakpoint 1, vectoradd_body .*
set scheduler-locking step
lane 6
set $other = &args->c[i]
set $sum = args->a[i] + args->b[i]
lane 5
set $skipped = &args->c[i]
python
def is_end():
    return gdb.parse_and_eval("*(unsigned int*)$at") == 0xb  # the instruction that ends a lane
gdb.execute("set $at = $pc")
for _ in range(200):
    if is_end(): break
    gdb.execute("set $at = $at + 4")
print("end found", is_end())
end
#> end found True
set var $pc = $at
print $pc == $at
#> \$[0-9]+ = 1
print/x $lanes_active
#> \$[0-9]+ = 0xffffffffffffffdf
lane 6
print $pc < $at
#> \$[0-9]+ = 1
python
for bad in ("0x1234", "$at + 2", "0x20000000"):
    try:
        gdb.execute("set var $pc = " + bad)
        print("taken", bad)
    except gdb.error as error:
        print("refused", bad, "register" in str(error))
    gdb.execute("maintenance flush register-cache")
end
#> refused 0x1234 True
#> refused \$at \+ 2 True
#> refused 0x20000000 True
python
for _ in range(100):
    if gdb.parse_and_eval("$pc == $at"): break
    gdb.execute("stepi", to_string=True)
end
# they have met
print/x $lanes_active
#> \$[0-9]+ = 0xffffffffffffffff
stepi
lane
#> .* vectoradd group 0,0,0 lane 6, has ended
print *$skipped
#> \$[0-9]+ = 0
print *$other == $sum
#> \$[0-9]+ = 1
continue
#> \[Inferior 1 \(process 1\) exited with code 01\]
