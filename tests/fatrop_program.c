/* An optimal control problem of two joints, solved by fatrop's C interface with the functions under test. */
#include <stdio.h>
#include <string.h>

#include <fatrop/ocp/OCPCInterface.h>

#include "my_aba_fatrop.h"
#include "my_step_fatrop.h"

enum { NX = 4, NU = 2, N = NX + NU, NODES = 11 }; /* the last node has no controls */

static const double start[NX] = { 0.1, 0.2, -0.3, 0.4 }, goal[NX] = { 0.6, -0.4 }, dt = 0.05, fastest = 0.72;

static int last(int k) { return k == NODES - 1; }

/* Sizes: the state is given at the first node, and accelerations are bounded at all others with controls. */
static int nodes(void *user) { (void)user; return NODES; }
static int get_nx(int k, void *user) { (void)k, (void)user; return NX; }
static int get_nu(int k, void *user) { (void)user; return last(k) ? 0 : NU; }
static int get_ng(int k, void *user) { (void)user; return k ? 0 : NX; }
static int get_ng_ineq(int k, void *user) { (void)user; return k && !last(k) ? NU : 0; }

static int get_bounds(double *lower, double *upper, int k, void *user)
{
    for (int i = 0; i < get_ng_ineq(k, user); ++i) lower[i] = -fastest, upper[i] = fastest;
    return 0;
}

static int initial_x(double *x, int k, void *user)
{
    (void)k, (void)user;
    memcpy(x, start, sizeof start);
    return 0;
}

static int initial_u(double *u, int k, void *user)
{
    for (int i = 0; i < get_nu(k, user); ++i) u[i] = 0;
    return 0;
}

/* Dynamics and the bounded accelerations: rigidc's. */
static int eval_b(const double *x_next, const double *u, const double *x, const double *stage, const double *all, double *b,
                  int k, void *user)
{
    (void)stage, (void)all, (void)k, (void)user;
    return my_step_eval_b(x_next, u, x, &dt, b);
}

static int eval_BAbt(const double *x_next, const double *u, const double *x, const double *stage, const double *all,
                     struct blasfeo_dmat *BAbt, int k, void *user)
{
    (void)x_next, (void)stage, (void)all, (void)k, (void)user;
    return my_step_eval_BAbt(u, x, &dt, BAbt);
}

static int eval_gineq(const double *u, const double *x, const double *stage, const double *all, double *g, int k, void *user)
{
    (void)stage, (void)all;
    return get_ng_ineq(k, user) ? my_aba_eval_g(u, x, 0, g) : 0;
}

static int eval_Ggt_ineq(const double *u, const double *x, const double *stage, const double *all, struct blasfeo_dmat *Ggt,
                         int k, void *user)
{
    (void)stage, (void)all;
    return get_ng_ineq(k, user) ? my_aba_eval_Ggt(u, x, 0, Ggt) : 0;
}

static int eval_RSQrqt(const double *scale, const double *u, const double *x, const double *lam_dyn, const double *lam_eq,
                       const double *lam_ineq, const double *stage, const double *all, struct blasfeo_dmat *RSQrqt, int k,
                       void *user)
{
    (void)lam_eq, (void)stage, (void)all;
    const int nu = get_nu(k, user);
    blasfeo_dgese(nu + NX, nu + NX, 0, RSQrqt, 0, 0);
    for (int i = 0; i < nu + NX; ++i) BLASFEO_DMATEL(RSQrqt, i, i) = *scale*(i < nu ? 1 : 10);
    if (last(k)) return 0;
    if (get_ng_ineq(k, user)) my_aba_add_RSQrqt(u, x, lam_ineq, 0, RSQrqt);
    return my_step_add_RSQrqt(u, x, lam_dyn, &dt, RSQrqt);
}

/* The state at the first node. */
static int eval_g(const double *u, const double *x, const double *stage, const double *all, double *g, int k, void *user)
{
    (void)u, (void)stage, (void)all;
    for (int i = 0; i < get_ng(k, user); ++i) g[i] = x[i] - start[i];
    return 0;
}

static int eval_Ggt(const double *u, const double *x, const double *stage, const double *all, struct blasfeo_dmat *Ggt, int k,
                    void *user)
{
    (void)u, (void)x, (void)stage, (void)all;
    if (get_ng(k, user)) {
        blasfeo_dgese(N, NX, 0, Ggt, 0, 0);
        blasfeo_ddiare(NX, 1, Ggt, NU, 0);
    }
    return 0;
}

/* The cost of all nodes. fatrop 1.1 calls eval_L and eval_rq for the first node alone, so take these. 2: that was all. */
static int objective(double scale, const double *ux, const double *stage, const double *all, double *f,
                     const struct FatropOcpCDims *dims, void *user)
{
    (void)stage, (void)all, (void)user;
    *f = 0;
    for (int k = 0; k < NODES; ++k) {
        const double *const u = ux + dims->ux_offs[k], *const x = u + dims->nu[k];
        for (int i = 0; i < dims->nu[k]; ++i) *f += scale*u[i]*u[i]/2;
        for (int i = 0; i < NX; ++i) *f += scale*5*(x[i] - goal[i])*(x[i] - goal[i]);
    }
    return 2;
}

static int gradient(double scale, const double *ux, const double *stage, const double *all, double *df,
                    const struct FatropOcpCDims *dims, void *user)
{
    (void)stage, (void)all, (void)user;
    for (int k = 0; k < NODES; ++k) {
        const double *const u = ux + dims->ux_offs[k], *const x = u + dims->nu[k];
        double *const by_u = df + dims->ux_offs[k], *const by_x = by_u + dims->nu[k];
        for (int i = 0; i < dims->nu[k]; ++i) by_u[i] = scale*u[i];
        for (int i = 0; i < NX; ++i) by_x[i] = scale*10*(x[i] - goal[i]);
    }
    return 2;
}

/* What fatrop asks for whole problems first. 0: it calls the functions of stages. */
static int by_stages_hessian(double scale, const double *x, const double *lam, const double *stage, const double *all,
                             struct blasfeo_dmat *H, const struct FatropOcpCDims *dims, void *user)
{
    (void)scale, (void)x, (void)lam, (void)stage, (void)all, (void)H, (void)dims, (void)user;
    return 0;
}

static int by_stages_jacobian(const double *x, const double *stage, const double *all, struct blasfeo_dmat *BAbt,
                              struct blasfeo_dmat *G, struct blasfeo_dmat *I, const struct FatropOcpCDims *dims, void *user)
{
    (void)x, (void)stage, (void)all, (void)BAbt, (void)G, (void)I, (void)dims, (void)user;
    return 0;
}

static int by_stages_violation(const double *x, const double *stage, const double *all, double *g,
                               const struct FatropOcpCDims *dims, void *user)
{
    (void)x, (void)stage, (void)all, (void)g, (void)dims, (void)user;
    return 0;
}

int main(void)
{
    struct FatropOcpCInterface ocp = {
        .get_nx = get_nx, .get_nu = get_nu, .get_ng = get_ng, .get_ng_ineq = get_ng_ineq, .get_horizon_length = nodes,
        .get_bounds = get_bounds, .get_initial_xk = initial_x, .get_initial_uk = initial_u,
        .eval_b = eval_b, .eval_BAbt = eval_BAbt, .eval_RSQrqt = eval_RSQrqt,
        .eval_g = eval_g, .eval_Ggt = eval_Ggt, .eval_gineq = eval_gineq, .eval_Ggt_ineq = eval_Ggt_ineq,
        .full_eval_obj = objective, .full_eval_obj_grad = gradient, .full_eval_lag_hess = by_stages_hessian,
        .full_eval_constr_jac = by_stages_jacobian, .full_eval_contr_viol = by_stages_violation,
    };
    struct FatropOcpCSolver *const solver = fatrop_ocp_c_create(&ocp, 0, 0);
    fatrop_ocp_c_set_option_int(solver, "print_level", 0);
    fatrop_ocp_c_set_option_double(solver, "tolerance", 1e-10);
    const int status = fatrop_ocp_c_solve(solver);
    const struct blasfeo_dvec *const found = fatrop_ocp_c_get_primal(solver);
    for (int k = 0; k < NODES; ++k) {
        const int at = fatrop_ocp_c_get_dims(solver)->ux_offs[k], nu = last(k) ? 0 : NU;
        for (int i = 0; i < NX; ++i) printf("%.17g\n", BLASFEO_DVECEL(found, at + nu + i));
        for (int i = 0; i < nu; ++i) printf("%.17g\n", BLASFEO_DVECEL(found, at + i));
    }
    fprintf(stderr, "status %d after %d iterations\n", status, fatrop_ocp_c_get_stats(solver)->iterations_count);
    fatrop_ocp_c_destroy(solver);
    return status;
}
