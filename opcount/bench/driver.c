/* Times compiled functions by passes over all states; one untimed pass warms the caches. Result: nanoseconds.
 *
 * p[i] is where argument i begins and s[i] how many reals lie between two states; outputs follow inputs.
 */

#include <stddef.h>
#include <time.h>

typedef double *P;
typedef ptrdiff_t S;
typedef void (*Any)(void);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

#define TIMED(pass)                                        \
    double start;                                          \
    size_t round;                                          \
    pass;                                                  \
    start = now();                                         \
    for (round = 0; round < rounds; ++round) pass;         \
    return now() - start;

/* f(p...), one state per call. */
#define AT(i) p[i] + k * s[i]
static void plain_pass(Any f, int arguments, size_t states, const P *p, const S *s)
{
    S k, n = (S)states;
    switch (arguments) {
    case 2: for (k = 0; k < n; ++k) ((void (*)(P, P))f)(AT(0), AT(1)); break;
    case 3: for (k = 0; k < n; ++k) ((void (*)(P, P, P))f)(AT(0), AT(1), AT(2)); break;
    case 4: for (k = 0; k < n; ++k) ((void (*)(P, P, P, P))f)(AT(0), AT(1), AT(2), AT(3)); break;
    case 5: for (k = 0; k < n; ++k) ((void (*)(P, P, P, P, P))f)(AT(0), AT(1), AT(2), AT(3), AT(4)); break;
    case 6:
        for (k = 0; k < n; ++k) ((void (*)(P, P, P, P, P, P))f)(AT(0), AT(1), AT(2), AT(3), AT(4), AT(5));
        break;
    case 7:
        for (k = 0; k < n; ++k) ((void (*)(P, P, P, P, P, P, P))f)(AT(0), AT(1), AT(2), AT(3), AT(4), AT(5), AT(6));
        break;
    case 8:
        for (k = 0; k < n; ++k) ((void (*)(P, P, P, P, P, P, P, P))f)(AT(0), AT(1), AT(2), AT(3), AT(4), AT(5), AT(6),
            AT(7));
        break;
    case 9:
        for (k = 0; k < n; ++k) ((void (*)(P, P, P, P, P, P, P, P, P))f)(AT(0), AT(1), AT(2), AT(3), AT(4), AT(5),
            AT(6), AT(7), AT(8));
        break;
    case 10:
        for (k = 0; k < n; ++k) ((void (*)(P, P, P, P, P, P, P, P, P, P))f)(AT(0), AT(1), AT(2), AT(3), AT(4), AT(5),
            AT(6), AT(7), AT(8), AT(9));
        break;
    case 11:
        for (k = 0; k < n; ++k) ((void (*)(P, P, P, P, P, P, P, P, P, P, P))f)(AT(0), AT(1), AT(2), AT(3), AT(4),
            AT(5), AT(6), AT(7), AT(8), AT(9), AT(10));
        break;
    case 12:
        for (k = 0; k < n; ++k) ((void (*)(P, P, P, P, P, P, P, P, P, P, P, P))f)(AT(0), AT(1), AT(2), AT(3), AT(4),
            AT(5), AT(6), AT(7), AT(8), AT(9), AT(10), AT(11));
        break;
    default: break;
    }
}

double time_plain(Any f, int arguments, size_t rounds, size_t states, const P *p, const S *s)
{
    TIMED(plain_pass(f, arguments, states, p, s))
}

/* f(states, p and s in turn..., work), all states in one call. */
#define BY(i) p[i], s[i]
static void batch_pass(Any f, int arguments, size_t n, const P *p, const S *s, P w)
{
    switch (arguments) {
    case 2: ((void (*)(size_t, P, S, P, S, P))f)(n, BY(0), BY(1), w); break;
    case 3: ((void (*)(size_t, P, S, P, S, P, S, P))f)(n, BY(0), BY(1), BY(2), w); break;
    case 4: ((void (*)(size_t, P, S, P, S, P, S, P, S, P))f)(n, BY(0), BY(1), BY(2), BY(3), w); break;
    case 5:
        ((void (*)(size_t, P, S, P, S, P, S, P, S, P, S, P))f)(n, BY(0), BY(1), BY(2), BY(3), BY(4), w);
        break;
    case 6:
        ((void (*)(size_t, P, S, P, S, P, S, P, S, P, S, P, S, P))f)(n, BY(0), BY(1), BY(2), BY(3), BY(4), BY(5), w);
        break;
    case 7:
        ((void (*)(size_t, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P))f)(n, BY(0), BY(1), BY(2), BY(3), BY(4),
            BY(5), BY(6), w);
        break;
    case 8:
        ((void (*)(size_t, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P))f)(n, BY(0), BY(1), BY(2), BY(3), BY(4),
            BY(5), BY(6), BY(7), w);
        break;
    case 9:
        ((void (*)(size_t, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P))f)(n, BY(0), BY(1), BY(2), BY(3),
            BY(4), BY(5), BY(6), BY(7), BY(8), w);
        break;
    case 10:
        ((void (*)(size_t, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P))f)(n, BY(0), BY(1), BY(2),
            BY(3), BY(4), BY(5), BY(6), BY(7), BY(8), BY(9), w);
        break;
    case 11:
        ((void (*)(size_t, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P))f)(n, BY(0), BY(1),
            BY(2), BY(3), BY(4), BY(5), BY(6), BY(7), BY(8), BY(9), BY(10), w);
        break;
    case 12:
        ((void (*)(size_t, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P, S, P))f)(n, BY(0),
            BY(1), BY(2), BY(3), BY(4), BY(5), BY(6), BY(7), BY(8), BY(9), BY(10), BY(11), w);
        break;
    default: break;
    }
}

double time_batch(Any f, int arguments, size_t rounds, size_t states, const P *p, const S *s, P work)
{
    TIMED(batch_pass(f, arguments, states, p, s, work))
}

/* f(inputs, outputs, work arrays, memory): CasADi's interface, one state per call. */
typedef int (*Casadi)(const double **, double **, long long *, double *, int);

static void casadi_pass(Casadi f, int inputs, int outputs, size_t states, const P *p, const S *s,
                        const double **arg, double **res, long long *iw, double *w)
{
    S k, n = (S)states;
    int i;
    for (k = 0; k < n; ++k) {
        for (i = 0; i < inputs; ++i) arg[i] = AT(i);
        for (i = 0; i < outputs; ++i) res[i] = AT(inputs + i);
        f(arg, res, iw, w, 0);
    }
}

double time_casadi(Casadi f, int inputs, int outputs, size_t rounds, size_t states, const P *p, const S *s,
                   const double **arg, double **res, long long *iw, double *w)
{
    TIMED(casadi_pass(f, inputs, outputs, states, p, s, arg, res, iw, w))
}
