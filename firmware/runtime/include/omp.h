/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP's functions for one thread, as its specification has them for programs without it: its directives are not
 * read, so each is performed by the thread that comes to it. */
#ifndef FABRICVP_OMP_H
#define FABRICVP_OMP_H

#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline void omp_set_num_threads(int threads) { (void)threads; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_procs(void) { return 1; }
static inline int omp_in_parallel(void) { return 0; }
static inline void omp_set_dynamic(int dynamic) { (void)dynamic; }
static inline int omp_get_dynamic(void) { return 0; }
static inline void omp_set_nested(int nested) { (void)nested; }
static inline int omp_get_nested(void) { return 0; }
static inline int omp_get_thread_limit(void) { return 1; }
static inline int omp_get_level(void) { return 0; }

/* Seconds of the machine's clock. */
static inline double omp_get_wtime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static inline double omp_get_wtick(void) { return 1e-9; }

/* A lock is 0, or how often it is held. One thread that waits for a lock of its own would wait for ever: the program
 * ends instead, as the specification's functions for one thread do. */
typedef struct {
    int held;
} omp_lock_t;
typedef omp_lock_t omp_nest_lock_t;
static inline void omp_init_lock(omp_lock_t* lock) { lock->held = 0; }
static inline void omp_destroy_lock(omp_lock_t* lock) { lock->held = 0; }
static inline int omp_test_lock(omp_lock_t* lock) { return lock->held ? 0 : (lock->held = 1); }
static inline void omp_set_lock(omp_lock_t* lock) {
    if (!omp_test_lock(lock)) __builtin_trap();
}
static inline void omp_unset_lock(omp_lock_t* lock) { lock->held = 0; }
static inline void omp_init_nest_lock(omp_nest_lock_t* lock) { lock->held = 0; }
static inline void omp_destroy_nest_lock(omp_nest_lock_t* lock) { lock->held = 0; }
static inline int omp_test_nest_lock(omp_nest_lock_t* lock) { return ++lock->held; }
static inline void omp_set_nest_lock(omp_nest_lock_t* lock) { ++lock->held; }
static inline void omp_unset_nest_lock(omp_nest_lock_t* lock) { --lock->held; }

#ifdef __cplusplus
}
#endif

#endif
