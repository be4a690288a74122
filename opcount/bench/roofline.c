/* What the core can do at most, from loops with nothing in their way. Each function returns nanoseconds for
 * `n` repetitions of the number of instructions or bytes that its name ends in; 0 where it is not written. */

#include <stddef.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

#define TIMED(body)                                              \
    double start;                                                \
    size_t k;                                                    \
    body start = now();                                          \
    for (k = 0; k < n; ++k) { body }                             \
    return now() - start;

#if defined(__x86_64__) && defined(__FMA__)
#define NOT "not %0\n\t"
#define FMA(r) "vfmadd231sd %0, %0, %%xmm" #r "\n\t"
#define MUL(r) "vmulsd %0, %0, %%xmm" #r "\n\t"
#define SUM(r) "vaddsd %0, %0, %%xmm" #r "\n\t"
#define CLOBBERS "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11"
#define NUMBER "x"
#define NOPS ".rept 32768\n\t.byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n\t.endr\n\t"
#define KNOWN
#elif defined(__aarch64__)
#define NOT "mvn %0, %0\n\t"
#define FMA(r) "fmadd d" #r ", %d0, %d0, d" #r "\n\t"
#define MUL(r) "fmul d" #r ", %d0, %d0\n\t"
#define SUM(r) "fadd d" #r ", %d0, %d0\n\t"
#define CLOBBERS "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11"
#define NUMBER "w"
#define NOPS ".rept 65536\n\tnop\n\t.endr\n\t"
#define KNOWN
#endif

#ifdef KNOWN
#define FOUR(x) x x x x

/* Complements that wait for one another: one per cycle of the clock. Some processors add constants while they rename. */
double chain_64(size_t n)
{
    size_t x = 0;
    TIMED(__asm__ volatile(FOUR(FOUR(FOUR(NOT))) : "+r"(x));)
}

/* Scalar double arithmetic, all independent. */
double fma_48(size_t n)
{
    const double one = 1.0;
    TIMED(__asm__ volatile(FOUR(FMA(0) FMA(1) FMA(2) FMA(3) FMA(4) FMA(5) FMA(6) FMA(7) FMA(8) FMA(9) FMA(10)
                                    FMA(11)) : : NUMBER(one) : CLOBBERS);)
}

double mixed_48(size_t n)
{
    const double one = 1.0;
    TIMED(__asm__ volatile(FOUR(MUL(0) SUM(1) MUL(2) SUM(3) MUL(4) SUM(5) MUL(6) SUM(7) MUL(8) SUM(9) MUL(10)
                                    SUM(11)) : : NUMBER(one) : CLOBBERS);)
}

/* Straight code far longer than the first instruction cache, of instructions that do nothing. */
double straight_262144(size_t n)
{
    TIMED(__asm__ volatile(NOPS);)
}
#else
double chain_64(size_t n) { return 0.0 * (double)n; }
double fma_48(size_t n) { return 0.0 * (double)n; }
double mixed_48(size_t n) { return 0.0 * (double)n; }
double straight_262144(size_t n) { return 0.0 * (double)n; }
#endif
