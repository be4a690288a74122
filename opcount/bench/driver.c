/* Times calls of a compiled function, a pass over all states at a time; one untimed pass warms the caches. */

#include <stddef.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

typedef double *P;
typedef void (*Any)(void);

static void pass(Any f, int arguments, size_t states, const P *p, const ptrdiff_t *s)
{
    ptrdiff_t k, n = (ptrdiff_t)states;
    switch (arguments) {
    case 2:
        for (k = 0; k < n; ++k) ((void (*)(P, P))f)(p[0] + k * s[0], p[1] + k * s[1]);
        break;
    case 3:
        for (k = 0; k < n; ++k) ((void (*)(P, P, P))f)(p[0] + k * s[0], p[1] + k * s[1], p[2] + k * s[2]);
        break;
    case 4:
        for (k = 0; k < n; ++k)
            ((void (*)(P, P, P, P))f)(p[0] + k * s[0], p[1] + k * s[1], p[2] + k * s[2], p[3] + k * s[3]);
        break;
    case 5:
        for (k = 0; k < n; ++k)
            ((void (*)(P, P, P, P, P))f)(p[0] + k * s[0], p[1] + k * s[1], p[2] + k * s[2], p[3] + k * s[3],
                                         p[4] + k * s[4]);
        break;
    case 6:
        for (k = 0; k < n; ++k)
            ((void (*)(P, P, P, P, P, P))f)(p[0] + k * s[0], p[1] + k * s[1], p[2] + k * s[2], p[3] + k * s[3],
                                            p[4] + k * s[4], p[5] + k * s[5]);
        break;
    default:
        break;
    }
}

/* Nanoseconds of `rounds` passes of f(inputs..., outputs...) over states that lie `s` reals apart. */
double time_plain(Any f, int arguments, size_t rounds, size_t states, const P *p, const ptrdiff_t *s)
{
    double start;
    size_t round;
    pass(f, arguments, states, p, s);
    start = now();
    for (round = 0; round < rounds; ++round) pass(f, arguments, states, p, s);
    return now() - start;
}

typedef int (*Casadi)(const double **, double **, long long *, double *, int);

static void casadi_pass(Casadi f, int inputs, int outputs, size_t states, const P *p, const ptrdiff_t *s,
                        const double **arg, double **res, long long *iw, double *w)
{
    ptrdiff_t k, n = (ptrdiff_t)states;
    int i;
    for (k = 0; k < n; ++k) {
        for (i = 0; i < inputs; ++i) arg[i] = p[i] + k * s[i];
        for (i = 0; i < outputs; ++i) res[i] = p[inputs + i] + k * s[inputs + i];
        f(arg, res, iw, w, 0);
    }
}

/* The same for a function with CasADi's interface; the last four are its work arrays. */
double time_casadi(Casadi f, int inputs, int outputs, size_t rounds, size_t states, const P *p, const ptrdiff_t *s,
                   const double **arg, double **res, long long *iw, double *w)
{
    double start;
    size_t round;
    casadi_pass(f, inputs, outputs, states, p, s, arg, res, iw, w);
    start = now();
    for (round = 0; round < rounds; ++round) casadi_pass(f, inputs, outputs, states, p, s, arg, res, iw, w);
    return now() - start;
}
