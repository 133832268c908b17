# SPDX-License-Identifier: Apache-2.0
# Harts one by one: who steps, who runs, who stays.
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning:)
file @ELF@
target remote 127.0.0.1:@PORT@
break one_round
continue
#> Thread 1 hit Breakpoint 1, one_round
delete

# only the other hart steps
set scheduler-locking on
thread 2
#> \[Switching to thread 2
set $first = $_thread
tbreak worker
continue
#> Thread 2 .*worker \(hart=1\)
thread 1
print rounds
#> \$1 = 0
set $before = counts[1]
stepi
stepi
stepi
print counts[1] == $before
#> \$2 = 1
thread 2
stepi 60
thread 1
print counts[1] > $before
#> \$3 = 1
print rounds
#> \$4 = 0

# both run while one steps: `next` over a call
set scheduler-locking off
set $before = counts[1]
next
next
print rounds
#> \$5 = 1
print counts[1] > $before
#> \$6 = 1
print written
#> \$7 = 4

# a loop in one hart, a breakpoint in the other
thread 2
break 15
continue
#> .*Thread 1 hit Breakpoint 3, square \(x=2\)
print $_thread
#> \$8 = 1

# a breakpoint that both harts could hit, for one of them
delete
break 44 thread 2
continue
#> .*Thread 2 hit Breakpoint 4, worker
delete
tbreak 44
continue
#> .*Thread 2 .*worker
# reverse order: single steps of a hart at a breakpoint that stays inserted
break *$pc
set $there = $pc
stepi
print $pc != $there
#> \$9 = 1
continue
#> .*Thread 2 hit Breakpoint 6
print $pc == $there
#> \$10 = 1
