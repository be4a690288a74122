/* A step of an SQP method by HPIPM: increments along a nominal motion, with A and B of the functions under test. */
#include <stdio.h>
#include <stdlib.h>

#include <blasfeo.h>
#include <hpipm_common.h>
#include <hpipm_d_ocp_qp.h>
#include <hpipm_d_ocp_qp_dim.h>
#include <hpipm_d_ocp_qp_ipm.h>
#include <hpipm_d_ocp_qp_sol.h>

#include "my.h"

enum { NQ = MY_NQ, NV = MY_NV, NX = 2*NV, NODES = 8 };

/* The nominal motion begins at q of the arguments, at rest, without forces. */
static void linearised(struct d_ocp_qp *qp, double *q, double *v)
{
    static double A[NX*NX], B[NX*NV];
    const double tau[NV] = { 0 }, dt = 0.02;
    double q_next[NQ], v_next[NV];
    for (int k = 0; k < NODES; ++k) {
        my_step_derivatives(q, v, tau, &dt, A, B);
        my_step(q, v, tau, &dt, q_next, v_next);
        /* BAbt is [B A b]', and matrices of C are row by row: to BLASFEO they are transposed already. b is zero. */
        blasfeo_pack_dmat(NV, NX, B, NV, qp->BAbt + k, 0, 0);
        blasfeo_pack_dmat(NX, NX, A, NX, qp->BAbt + k, NV, 0);
        for (int i = 0; i < NQ; ++i) q[i] = q_next[i];
        for (int i = 0; i < NV; ++i) v[i] = v_next[i];
    }
}

/* Costs 5 |dx - 0.1|^2 + |du|^2 / 2, du within 0.2, and dx = 0 at the first node. */
static void weighed(struct d_ocp_qp *qp)
{
    double Q[NX*NX] = { 0 }, R[NV*NV] = { 0 }, slope[NX], zero[NX] = { 0 }, least[NV], most[NV];
    int first[NX], controls[NV];
    for (int i = 0; i < NX; ++i) Q[i*(NX + 1)] = 10, slope[i] = -1, first[i] = i;
    for (int i = 0; i < NV; ++i) R[i*(NV + 1)] = 1, controls[i] = i, least[i] = -0.2, most[i] = 0.2;
    for (int k = 0; k <= NODES; ++k) {
        d_ocp_qp_set("Q", k, Q, qp);
        d_ocp_qp_set("q", k, slope, qp);
        if (k == NODES) break;
        d_ocp_qp_set("R", k, R, qp);
        d_ocp_qp_set("idxbu", k, controls, qp);
        d_ocp_qp_set("lbu", k, least, qp);
        d_ocp_qp_set("ubu", k, most, qp);
    }
    d_ocp_qp_set("idxbx", 0, first, qp);
    d_ocp_qp_set("lbx", 0, zero, qp);
    d_ocp_qp_set("ubx", 0, zero, qp);
}

int main(int argc, char **argv)
{
    double q[NQ], v[NV] = { 0 };
    for (int i = 0; i < NQ && i + 1 < argc; ++i) q[i] = atof(argv[i + 1]);

    int nx[NODES + 1], nu[NODES + 1], nbx[NODES + 1] = { NX }, nbu[NODES + 1], none[NODES + 1] = { 0 };
    for (int k = 0; k <= NODES; ++k) nx[k] = NX, nbu[k] = nu[k] = k < NODES ? NV : 0;
    struct d_ocp_qp_dim dim;
    d_ocp_qp_dim_create(NODES, &dim, malloc((size_t)d_ocp_qp_dim_memsize(NODES)));
    d_ocp_qp_dim_set_all(nx, nu, nbx, nbu, none, none, &dim);
    struct d_ocp_qp qp;
    d_ocp_qp_create(&dim, &qp, malloc((size_t)d_ocp_qp_memsize(&dim)));
    d_ocp_qp_set_all_zero(&qp);
    linearised(&qp, q, v);
    weighed(&qp);

    struct d_ocp_qp_sol sol;
    d_ocp_qp_sol_create(&dim, &sol, malloc((size_t)d_ocp_qp_sol_memsize(&dim)));
    struct d_ocp_qp_ipm_arg arg;
    d_ocp_qp_ipm_arg_create(&dim, &arg, malloc((size_t)d_ocp_qp_ipm_arg_memsize(&dim)));
    d_ocp_qp_ipm_arg_set_default(BALANCE, &arg);
    struct d_ocp_qp_ipm_ws ws;
    d_ocp_qp_ipm_ws_create(&dim, &arg, &ws, malloc((size_t)d_ocp_qp_ipm_ws_memsize(&dim, &arg)));
    d_ocp_qp_ipm_solve(&qp, &sol, &arg, &ws);

    int status;
    d_ocp_qp_ipm_get_status(&ws, &status);
    for (int k = 0; k < NODES; ++k) {
        double du[NV];
        d_ocp_qp_sol_get_u(k, &sol, du);
        for (int i = 0; i < NV; ++i) printf("%.17g\n", du[i]);
    }
    return status;
}
