# SPDX-License-Identifier: Apache-2.0
# Commands beside GDB's own.
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning:)
file @ELF@
target remote 127.0.0.1:@PORT@
monitor help
#> monitor stats \[prefix\]
monitor time
#> 0\.000000000000 s
break square
continue
continue
#> Thread 1 hit Breakpoint 1, square \(x=2\)
monitor stats node0.host.hart0.instructions
#> node0\.host\.hart0\.instructions +[1-9]\d+
monitor stats reset
#> statistics count from zero
monitor stats node0.host.hart0.instructions
#> node0\.host\.hart0\.instructions +0
monitor sing
#> 'sing' is not a monitor command
monitor reset
#> node reset
maintenance flush register-cache
print/x $pc
#> \$1 = 0x1000
print rounds
#> \$2 = 0
continue
#> Thread 1 hit Breakpoint 1, square \(x=1\)
