# SPDX-License-Identifier: Apache-2.0
# Wavefronts as threads: a breakpoint on a line of one kernel, lanes, registers, memory, steps.
#% gpu.yaml --app vectoradd --size 300
#= 1
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning: (?!Source file))
source @SCRIPTS@/gpu.gdb
set print thread-events off
file @FIRMWARE@/gpu_apps.elf
add-symbol-file @FIRMWARE@/cp.elf
add-symbol-file @FIRMWARE@/vectoradd.elf
target remote 127.0.0.1:@PORT@

# wavefronts come: only host and command processor are there at first
info threads
#> \* 1 +Thread 1\.1 \(node0\.host\.hart0 .*
#>   2 +Thread 1\.2 \(node0\.gpu0\.processor\.hart0 .*
python print("threads", len(gdb.selected_inferior().threads()))
#> threads 2
lane
#> the present thread is not a wavefront
monitor kernel vectoradd
#> breakpoints stop wavefronts of kernel vectoradd only
tbreak kernels/vectoradd.c:7
continue
#> Thread [0-9]+ hit Temporary breakpoint 1, vectoradd_body \(args=0x40000000\) at .*vectoradd.c:7
lane
#> node0\.gpu0 cu[0-3] wavefront [0-9]+ vectoradd group 0,0,0 lane 0, .*
info threads
#> .* 1 +Thread 1\.1 \(node0\.host\.hart0 .*
#> .* 2 +Thread 1\.2 \(node0\.gpu0\.processor\.hart0 .*
#> .*node0\.gpu0 cu[0-3] wavefront [0-9]+ vectoradd group [01],0,0 lane 0, .*
python print("wavefronts", len(gdb.selected_inferior().threads()) - 2 in range(4, 6))
#> wavefronts True
thread 2
#> \[Switching to thread 2
print sizeof(queues[0]) > 0
#> \$[0-9]+ = 1
thread 3
print $group_x
#> \$[0-9]+ = 0
print/x $lanes_active
#> \$[0-9]+ = 0xffffffffffffffff
print *args
#> \$[0-9]+ = {a = 0x[0-9a-f]+, b = 0x[0-9a-f]+, c = 0x[0-9a-f]+, n = 300}

# lanes: each its registers
print i == $wavefront * 64
#> \$[0-9]+ = 1
lane 63
#> lane 63; .*
#> .*vectoradd.c:7
print i == $wavefront * 64 + 63
#> \$[0-9]+ = 1
print $local_x == i
#> \$[0-9]+ = 1
print/x $sp
#> \$[0-9]+ = 0x30000[0-9a-f]+
set $a = args->a[i]
set $b = args->b[i]
set $where = &args->c[i]
lane 64
#> '64' is not a lane: 0 … 63
monitor lane x
#> 'x' is not a lane: 0 … 63

# steps of one lane; a loaded value is there when the step is over
lane 63
set scheduler-locking step
python
def step_to(mnemonic):
    for _ in range(50):
        if "\t" + mnemonic in gdb.execute("x/i $pc", to_string=True).replace(":\t", "\t"):
            return
        gdb.execute("stepi", to_string=True)
    raise gdb.GdbError("there is no " + mnemonic)
step_to("flw")
end
set $before = $pc
stepi
print $pc - $before
#> \$[0-9]+ = 4
python step_to("fadd.s")
print $fa5.float == $a && $fa4.float == $b
#> \$[0-9]+ = 1
stepi
print $fa5.float == $a + $b
#> \$[0-9]+ = 1
# a register of this lane alone
set var $fa5.float = 4096
lane 62
print $fa5.float == 4096
#> \$[0-9]+ = 0
python step_to(".4byte")
# the end of the kernel ends the wavefront, after its stores
set $thread = $_thread
stepi
lane
#> .* vectoradd group 0,0,0 lane 62, has ended
print *$where
#> \$[0-9]+ = 4096
info registers a0
#> a0 +0x40000000.*
set scheduler-locking off
break kernels/vectoradd.c:7 if $group_x == 1
continue
#> Thread [0-9]+ hit Breakpoint 2, .*
lane
#> .* wavefront [0-9]+ vectoradd group 1,0,0 lane 0, .*
print/x $lanes_live
#> \$[0-9]+ = 0xfffffffffff
lane 44
#> lane 44 has ended
lane 43
print i
#> \$[0-9]+ = 299
delete
# what the debugger wrote is what the host finds: the verdict is "wrong", and the run goes to its end
continue
#> \[Inferior 1 \(process 1\) exited with code 01\]
