/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that may trap (cp/access.h). All between guarded_begin and guarded_end are leaves that use a and t registers
 * only; the trap handler lets the one that trapped return mcause. */
    .section .text
    .globl guarded_begin, guarded_end, guarded_failed
    .globl guarded_load, guarded_store, guarded_store16, guarded_add, guarded_copy_words, guarded_copy_bytes
guarded_begin:

guarded_load:                   /* a0 from, a1 to, a2 doublewords */
    beqz    a2, guarded_done
    ld      t0, 0(a0)
    sd      t0, 0(a1)
    addi    a0, a0, 8
    addi    a1, a1, 8
    addi    a2, a2, -1
    j       guarded_load

guarded_store:                  /* a0 to, a1 value */
    sd      a1, 0(a0)
    j       guarded_done

guarded_store16:
    sh      a1, 0(a0)
    j       guarded_done

guarded_add:                    /* a0 to, a1 addend */
    amoadd.d.aqrl zero, a1, (a0)
    j       guarded_done

guarded_copy_words:             /* a0 from, a1 to, a2 bytes */
    beqz    a2, guarded_done
    ld      t0, 0(a0)
    sd      t0, 0(a1)
    addi    a0, a0, 8
    addi    a1, a1, 8
    addi    a2, a2, -8
    j       guarded_copy_words

guarded_copy_bytes:
    beqz    a2, guarded_done
    lbu     t0, 0(a0)
    sb      t0, 0(a1)
    addi    a0, a0, 1
    addi    a1, a1, 1
    addi    a2, a2, -1
    j       guarded_copy_bytes

guarded_done:
    li      a0, 0
    ret
guarded_end:
guarded_failed:
    csrr    a0, mcause
    ret
