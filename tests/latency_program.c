/* Nanoseconds of a million calls of FUNCTION at states that all differ: the shortest, the median, the longest of all but
 * one in ten thousand, and the longest. latency.h says what FUNCTION is, and how long q and v are (NQ, NV).
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "latency.h"

enum { CALLS = 1000000, FIRST = 1000, ROUND = 10000 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec*1e9 + (double)time.tv_nsec;
}

static int before(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    static double q[NQ], v[NV], f[NV], out[NV*NV], took[CALLS];
    const struct timespec rest = { 0, 2000000 };
    for (int k = -FIRST; k < CALLS; ++k) {
        const int n = k + FIRST;
        for (int i = 0; i < NQ; ++i) q[i] = (double)((n*7 + i*3) % 1000)*1e-3 + 0.1;
        for (int i = 0; i < NV; ++i) v[i] = f[i] = (double)((n*11 + i*5) % 1000)*1e-3;
        const double start = now();
        FUNCTION;
        const double end = now();
        if (k >= 0) took[k] = end - start; /* the first calls read code and data for the first time */
        if (n % ROUND == 0) nanosleep(&rest, NULL); /* Linux stops real-time processes that never rest */
    }
    qsort(took, CALLS, sizeof *took, before);
    printf("%.0f %.0f %.0f %.0f\n", took[0], took[CALLS/2], took[CALLS - CALLS/10000], took[CALLS - 1]);
    return 0;
}
