# SPDX-License-Identifier: Apache-2.0
"""Small bare-metal programs. Each starts at `_start` on every hart, in machine mode, at 0x80000000."""

PRELUDE = """
#define UART 0x10000000
#define FINISHER 0x100000
#define MARKER 0x110000
#define PLIC 0x0c000000
#define DEVICE 0x20000000
.macro only_hart_0
    csrr t0, mhartid
    beqz t0, 1f
0:  wfi
    j 0b
1:
.endm
.macro print label          /* changes t0 … t2 */
    la t0, \\label
    li t1, UART
2:  lbu t2, 0(t0)
    beqz t2, 3f
    sb t2, 0(t1)
    addi t0, t0, 1
    j 2b
3:
.endm
.macro power_off status     /* 0: clean */
    li t0, FINISHER
    .if \\status
    li t1, (\\status << 16) | 0x3333
    .else
    li t1, 0x5555
    .endif
    sw t1, 0(t0)
9:  j 9b
.endm
.globl _start
"""

HELLO = """
_start:
    only_hart_0
    print text
    power_off 0
text: .asciz "hello, world\\n"
"""

FAILS = """
_start:
    only_hart_0
    power_off 7
"""

#: Counts in s1 and in memory; never ends. `again` is the loop's first instruction.
COUNTS = """
_start:
    only_hart_0
    li s1, 0
    la s2, total
again:
    addi s1, s1, 1
    sd s1, 0(s2)
    j again
.balign 4096                /* stores on a page with code take longer */
.globl again, total
total: .dword 0
"""

#: Prompts, reads a line, prints it back. The line "off" powers off.
ECHO = """
_start:
    only_hart_0
    la sp, line
prompt:
    print text
    la s2, line
read:
    li t1, UART
4:  lbu t2, 5(t1)
    andi t2, t2, 1
    beqz t2, 4b
    lbu t2, 0(t1)
    sb t2, 0(t1)
    sb t2, 0(s2)
    addi s2, s2, 1
    li t3, '\\n'
    bne t2, t3, read
    sb zero, 0(s2)
    la s2, line
    lw t4, 0(s2)
    li t5, 0x0a66666f           /* "off\\n" */
    beq t4, t5, off
    print reply
    print line
    j prompt
off:
    print bye
    power_off 0
text: .asciz "ready> "
reply: .asciz "you typed "
bye: .asciz "bye\\n"
.balign 8
line: .space 256
"""

#: Marker device: label "warm", then a region "loop".
MARKS = """
.macro label text
    li t1, MARKER
    sb zero, 8(t1)
    la t0, \\text
5:  lbu t2, 0(t0)
    beqz t2, 6f
    sb t2, 8(t1)
    addi t0, t0, 1
    j 5b
6:
.endm
.macro mark kind
    li t1, MARKER
    li t2, \\kind
    sw t2, 4(t1)
.endm
_start:
    only_hart_0
    label warm
    mark 3
    label loop
    mark 1
    li s1, 1000
7:  addi s1, s1, -1
    bnez s1, 7b
    mark 2
    power_off 0
warm: .asciz "warm"
loop: .asciz "loop"
"""

#: Writes 1, 2, 4 and 8 bytes to the device at DEVICE, reads them back, and keeps what it read in `seen`.
USES_DEVICE = """
_start:
    only_hart_0
    li s1, DEVICE
    li t0, 0x8877665544332211
    sb t0, 0(s1)
    sh t0, 2(s1)
    sw t0, 4(s1)
    sd t0, 8(s1)
    la s2, seen
    lbu t1, 0(s1)
    sd t1, 0(s2)
    lhu t1, 2(s1)
    sd t1, 8(s2)
    lwu t1, 4(s1)
    sd t1, 16(s2)
    ld t1, 8(s1)
    sd t1, 24(s2)
    power_off 0
.balign 8
.globl seen
seen: .space 32
"""

#: Takes external interrupts 40 from the PLIC; each one acknowledges the device at DEVICE and counts in `count`.
TAKES_INTERRUPTS = """
_start:
    only_hart_0
    la t0, handler
    csrw mtvec, t0
    li s1, PLIC
    li t0, 5
    sw t0, 160(s1)              /* priority of source 40 */
    li t0, 0x2000
    add t0, t0, s1
    li t1, 0x100
    sw t1, 4(t0)                /* enable of context 0 */
    li s2, PLIC + 0x200000
    sw zero, 0(s2)
    li s3, DEVICE
    la s4, count
    li t0, 0x800
    csrs mie, t0
    csrsi mstatus, 8
sleep:
    wfi
    j sleep
.balign 4
handler:
    lw t0, 4(s2)                /* claim */
    sw t0, 0(s3)                /* acknowledge at the device */
    ld t1, 0(s4)
    addi t1, t1, 1
    sd t1, 0(s4)
    sw t0, 4(s2)                /* complete */
    mret
.balign 8
.globl count
count: .dword 0
"""

#: Every hart adds 1 to `total` 1000 times, atomically; hart 0 powers off when all are done.
ADDS = """
_start:
    la s1, total
    li s2, 1000
    li t0, 1
8:  amoadd.d zero, t0, (s1)
    addi s2, s2, -1
    bnez s2, 8b
    csrr t1, mhartid
    bnez t1, done
    li s3, 4000
7:  ld t2, 0(s1)
    blt t2, s3, 7b
    power_off 0
done:
    wfi
    j done
.balign 8
.globl total
total: .dword 0
"""
