# SPDX-License-Identifier: Apache-2.0
# No program file, and a debugger that takes the machine for GNU/Linux and steps by breakpoints.
#! .*(Remote failure|Ignoring packet error|Cannot insert)
set osabi GNU/Linux
target remote 127.0.0.1:@PORT@
#> 0x0000000000001000 in
stepi
print/x $pc
#> \$1 = 0x1004
stepi 3
print/x $pc
#> \$2 = 0x1010
tbreak *0x80000000
continue
#> Thread [12] hit Temporary breakpoint 1, 0x0000000080000000 in
stepi
stepi
print/x $pc
#> \$3 = 0x80000008
print $mhartid == $a0
#> \$4 = 1
