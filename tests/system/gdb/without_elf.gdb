# SPDX-License-Identifier: Apache-2.0
# No program file, and a debugger that steps by vCont;s.
#! .*(Remote failure|Ignoring packet error|Cannot insert)
set osabi none
target remote 127.0.0.1:@PORT@
#> 0x0000000000001000 in
x/2i $pc
#> => 0x1000:
stepi
print/x $pc
#> \$1 = 0x1004
info registers pc
#> pc .*0x1004
break *0x80000000
continue
#> Thread [12] hit Breakpoint 1, 0x0000000080000000 in
x/i $pc
#> => 0x80000000:.csrr.a0,mhartid
delete
stepi
stepi
stepi
x/i $pc
#> => 0x8000000c:
print $a0
#> \$2 = [01]
print/x $sp
#> \$3 = 0x8000
set var $t3 = 0x123456789abcdef0
print/x $t3
#> \$4 = 0x123456789abcdef0
set var {long}0x80100000 = 0x0102030405060708
x/8xb 0x80100000
#> 0x80100000:.0x08.0x07.0x06.0x05.0x04.0x03.0x02.0x01
# Devices are no memory to GDB, unless it is told otherwise.
set mem inaccessible-by-default off
x/bx 0x10000005
#> 0x10000005:.0x60
set mem inaccessible-by-default on
x/wx 0x10000000
#> .*Cannot access memory at address 0x10000000
