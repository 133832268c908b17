# SPDX-License-Identifier: Apache-2.0
# Debuggers come and go; the machine runs on without them.
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning:)
file @ELF@
target remote 127.0.0.1:@PORT@
break square
watch written
continue
#> Thread 1 hit Breakpoint 1, square \(x=1\)
detach
#> \[Inferior 1 \(process 1\) detached\]
# The breakpoints are out of the machine: it makes progress.
shell sleep 0.3
delete
target remote 127.0.0.1:@PORT@
print rounds > 100
#> \$1 = 1
print counts[1] > 1000
#> \$2 = 1
break square
continue
#> Thread 1 hit Breakpoint 3, square
disconnect
shell sleep 0.3
target remote 127.0.0.1:@PORT@
info threads
#> \* 1 .*Thread 1\.1
#>   2 .*Thread 1\.2
detach

# Extended mode: the connection stays, the process is attached anew.
delete
target extended-remote 127.0.0.1:@PORT@
#> .*(one_round|descend|square|scale|main)
set $before = rounds
detach
#> \[Inferior 1 \(process 1\) detached\]
shell sleep 0.3
attach 1
print rounds > $before
#> \$3 = 1
break square
continue
#> Thread 1 hit Breakpoint 4, square
kill
#> \[Inferior 1 \(process 1\) killed\]
#= 0
