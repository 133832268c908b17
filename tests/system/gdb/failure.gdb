# SPDX-License-Identifier: Apache-2.0
# The guest's status reaches the debugger.
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning:)
file @ELF@
target remote 127.0.0.1:@PORT@
tbreak one_round
continue
set var quit = 7
continue
#> \[Inferior 1 \(process 1\) exited with code 07\]
#= 1
