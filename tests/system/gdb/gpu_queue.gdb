# SPDX-License-Identifier: Apache-2.0
# What the queues of a GPU hold, and what they wait for.
#% gpu.yaml --app vectoradd --size 256
#= 0
#! .*(Remote failure|Ignoring packet error|Cannot insert|warning: (?!Source file))
set print thread-events off
file @FIRMWARE@/gpu_apps.elf
target remote 127.0.0.1:@PORT@
monitor help
#> monitor queue \[GPU\] \[N\]
monitor queue
#> no queue is open
monitor queue gpu1
#> queue: there is no GPU 'gpu1'; did you mean 'gpu0'\?
monitor queue gpu0 1x
#> usage: monitor queue \[GPU\] \[N\]
break gpu_dispatch
continue
#> Thread 1 hit Breakpoint 1, gpu_dispatch
python
for _ in range(50): # the signal of the packet before is there before its queue has moved on
    if "0 packets outstanding" in gdb.execute("monitor queue", to_string=True): break
    gdb.execute("stepi 10", to_string=True)
end
monitor queue
#> node0\.gpu0 queue 0: active, ring of 64 packets at 0x[0-9a-f]+, read index 1, write index 1, 0 packets outstanding, doorbell 0
monitor queue gpu0 0x0
#> node0\.gpu0 queue 0: active, ring of 64 packets
#>   address space 0, priority 1, hart 0 of the command processor
#>   waits for packets and their doorbell
monitor queue 3
#> queue 3 is not open
delete 1
break gpu_wait
continue
#> Thread 1 hit Breakpoint 2, gpu_wait
python
for _ in range(2000):
    gdb.execute("stepi 20", to_string=True)
    if "write index 2, 1 packets" in gdb.execute("monitor queue", to_string=True): break
end
monitor queue 0
#> node0\.gpu0 queue 0: active, ring of 64 packets at 0x[0-9a-f]+, read index 1, write index 2, 1 packets outstanding, doorbell [01]
#>   waits for the command processor
#>   packet 1: kernel vectoradd, grid 256x1x1 by 256x1x1, arguments at 0x[0-9a-f]+, signal 0x[0-9a-f]+, after all before it, acquires system, releases system
delete 2
monitor queue 4 5
#> usage: monitor queue
continue
#> \[Inferior 1 \(process 1\) exited normally\]
