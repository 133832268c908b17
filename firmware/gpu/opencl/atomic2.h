/* SPDX-License-Identifier: Apache-2.0 */
/* The atomics of atomic2.cl for pointers to one address space, SPACE. */
/* Words and double words where all work-items see them. */
WORD(32, int, "w", GPU_FUNCT_LOAD_W)
WORD(64, long, "d", GPU_FUNCT_LOAD_D)

ACCESSES(atomic_int, int, int, SAME_BITS, SAME_BITS)
ACCESSES(atomic_uint, uint, int, (int), (uint))
ACCESSES(atomic_long, long, long, SAME_BITS, SAME_BITS)
ACCESSES(atomic_ulong, ulong, long, (long), (ulong))
ACCESSES(atomic_float, float, int, as_int, as_float)
ACCESSES(atomic_double, double, long, as_long, as_double)

ARITHMETIC(atomic_int, int, "w", "amomin", "amomax")
ARITHMETIC(atomic_uint, uint, "w", "amominu", "amomaxu")
ARITHMETIC(atomic_long, long, "d", "amomin", "amomax")
ARITHMETIC(atomic_ulong, ulong, "d", "amominu", "amomaxu")

OV bool atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag* at, memory_order order, memory_scope scope) {
    before(order, scope);
    const int old = raw_swap((volatile SPACE int*)at, 1);
    after(order, scope);
    return old != 0;
}
OV bool atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag* at, memory_order order) {
    return atomic_flag_test_and_set_explicit(at, order, memory_scope_device);
}
OV bool atomic_flag_test_and_set(volatile SPACE atomic_flag* at) {
    return atomic_flag_test_and_set_explicit(at, memory_order_seq_cst, memory_scope_device);
}
OV void atomic_flag_clear_explicit(volatile SPACE atomic_flag* at, memory_order order, memory_scope scope) {
    before(order, scope);
    raw_store((volatile SPACE int*)at, 0);
}
OV void atomic_flag_clear_explicit(volatile SPACE atomic_flag* at, memory_order order) {
    atomic_flag_clear_explicit(at, order, memory_scope_device);
}
OV void atomic_flag_clear(volatile SPACE atomic_flag* at) {
    atomic_flag_clear_explicit(at, memory_order_seq_cst, memory_scope_device);
}
