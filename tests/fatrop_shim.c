/* The stage functions under test with arrays in place of BLASFEO's matrices, column by column.
 *
 * NAME, RESIDUAL and JACOBIAN are set by -D, and DYNAMICS for functions that take the next state. Matrices hold sevens
 * before, which shows what is written, what is added, and the row that stays fatrop's.
 */
#include HEADER

#define JOINED_(A, B, C) A##B##C
#define JOINED(A, B, C) JOINED_(A, B, C)
#define FILLED 7

int value(const double *x_next, const double *u, const double *x, const double *p, double *y)
{
#ifdef DYNAMICS
    return JOINED(NAME, _eval_, RESIDUAL)(x_next, u, x, p, y);
#else
    (void)x_next;
    return JOINED(NAME, _eval_, RESIDUAL)(u, x, p, y);
#endif
}

static void given(struct blasfeo_dmat *matrix, double *y)
{
    blasfeo_unpack_dmat(matrix->m, matrix->n, matrix, 0, 0, y, matrix->m);
    blasfeo_free_dmat(matrix);
}

int slopes(const double *u, const double *x, const double *p, int n, int m, double *y)
{
    struct blasfeo_dmat matrix;
    blasfeo_allocate_dmat(n + 1, m, &matrix);
    blasfeo_dgese(n + 1, m, FILLED, &matrix, 0, 0);
    const int status = JOINED(NAME, _eval_, JACOBIAN)(u, x, p, &matrix);
    given(&matrix, y);
    return status;
}

int curvature(const double *u, const double *x, const double *lam, const double *p, int n, double *y)
{
    struct blasfeo_dmat matrix;
    blasfeo_allocate_dmat(n + 1, n, &matrix);
    blasfeo_dgese(n + 1, n, FILLED, &matrix, 0, 0);
    const int status = JOINED(NAME, _add_, RSQrqt)(u, x, lam, p, &matrix);
    given(&matrix, y);
    return status;
}
