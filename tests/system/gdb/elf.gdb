# SPDX-License-Identifier: Apache-2.0
# A program with debug information: everything a person does first.
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning:)
file @ELF@
target remote 127.0.0.1:@PORT@
#> 0x0000000000001000 in
info threads
#> \* 1 .*Thread 1\.1 \(node0\.host\.hart0 .*M-mode\)
#>   2 .*Thread 1\.2 \(node0\.host\.hart1 .*M-mode\)

# breakpoints, backtrace, finish, step, next
break square
continue
#> Thread 1 hit Breakpoint 1, square \(x=1\)
backtrace
#> #0 +square \(x=1\)
#> #1 .* descend \(depth=0\)
#> #4 .* descend \(depth=3\)
#> #5 .* one_round \(\)
#> #6 .* main \(\)
next
next
info locals
#> result = 1
finish
#> Value returned is \$1 = 1
delete
break one_round
continue
#> Thread 1 hit Breakpoint 2, one_round
next
print rounds
#> \$2 = 2
step
#> descend \(depth=3\)
up
#> #1 .* one_round
tbreak scale
continue
#> Thread 1 hit Temporary breakpoint 3, scale \(by=2\)
print ratio
#> \$3 = 0.5
print/x $fa0
#> \$4 = \{float = 0x0, double = 0x4000000000000000\}
set var $fa0 = 1.5
print $fa0
#> \$5 = \{float = 0, double = 1.5\}
delete

# hardware breakpoint
hbreak square
continue
#> Thread 1 hit Breakpoint 4, square \(x=3\)
delete

# watchpoints
watch written
continue
#> Thread 1 hit Hardware watchpoint 5: written
#> Old value = 7
#> New value = 12
delete
rwatch inbox
continue
#> Thread 1 hit Hardware read watchpoint 6: inbox
#> Value = 42
delete
awatch rounds
continue
#> Thread 1 hit Hardware access .read/write. watchpoint 7: rounds
#> Value = 3
delete

# registers, memory, variables
print $mstatus
#> \$6 = -?\d+
print $priv
#> \$7 = 3
print/x $misa
#> \$8 = 0x800000000014112d
x/2i $pc
#> => 0x
set var written = 77
print written
#> \$9 = 77
print &rounds
#> \$10 = .* <rounds>
info mem
#> Using memory regions provided by the target
#> .*0x0000000080000000 0x0000000081000000 rw

# the other hart
thread 2
#> \[Switching to thread 2
print $mhartid
#> \$11 = 1
info registers pc mcause
#> pc .*0x800001
#> mcause .*0
thread apply all print $mhartid
#> Thread 2
#> \$12 = 1
#> Thread 1
#> \$13 = 0

# and to its end
set var quit = 1
continue
#> \[Inferior 1 \(process 1\) exited normally\]
#= 0
