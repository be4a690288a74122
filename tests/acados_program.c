/* An integration and an optimal control problem of two joints, solved by acados with the functions under test.
 *
 * With an argument: the problem with a goal that bounded torques cannot reach ("far"), or from no number ("nan").
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acados_c/external_function_interface.h"
#include "acados_c/ocp_nlp_interface.h"
#include "acados_c/sim_interface.h"

#include "my_aba_acados_generic.h"
#include "my_rnea_acados_generic.h"
#include "my_step_acados_generic.h"

#ifdef EARLIER /* acados of 2023: functions have no options, and some arguments are not there */
typedef int external_function_opts;
#define external_function_opts_set_to_default(opts) (void)(*(opts) = 0)
#define external_function_param_casadi_create(f, np, opts) (external_function_param_casadi_create)(f, np)
#define external_function_param_generic_create(f, np, opts) (external_function_param_generic_create)(f, np)
#define sim_solver_create(config, dims, opts, in) (sim_solver_create)(config, dims, opts)
#define ocp_nlp_solver_create(config, dims, opts, in) (ocp_nlp_solver_create)(config, dims, opts)
#define ocp_nlp_constraints_model_set(config, dims, in, out, ...) (ocp_nlp_constraints_model_set)(config, dims, in, __VA_ARGS__)
#define ocp_nlp_out_set(config, dims, out, in, ...) (ocp_nlp_out_set)(config, dims, out, __VA_ARGS__)
#define ocp_nlp_get(solver, ...) (ocp_nlp_get)(config, solver, __VA_ARGS__)
#define SETTLED(plan)
#else
#define SETTLED(plan) (plan)->globalization = FIXED_STEP
#endif

enum { NX = 4, NU = 2, NY = NX + NU, NODES = 10 };

#define DECLARED(NAME)                                              \
    int NAME(const double **, double **, int *, double *, void *);  \
    int NAME##_work(int *, int *, int *, int *);                    \
    const int *NAME##_sparsity_in(int);                             \
    const int *NAME##_sparsity_out(int);                            \
    int NAME##_n_in(void);                                          \
    int NAME##_n_out(void)

#define CREATED(F, NAME, NP)                                        \
    external_function_param_casadi F;                               \
    F.casadi_fun = NAME;                                            \
    F.casadi_work = NAME##_work;                                    \
    F.casadi_sparsity_in = NAME##_sparsity_in;                      \
    F.casadi_sparsity_out = NAME##_sparsity_out;                    \
    F.casadi_n_in = NAME##_n_in;                                    \
    F.casadi_n_out = NAME##_n_out;                                  \
    external_function_param_casadi_create(&F, NP, &usual)

DECLARED(my_aba_expl_ode_fun);
DECLARED(my_aba_expl_vde_forw);
DECLARED(my_aba_expl_vde_adj);
DECLARED(my_aba_expl_ode_hess);
#define IMPLICIT(ALGORITHM)                                         \
    DECLARED(my_##ALGORITHM##_impl_dae_fun);                        \
    DECLARED(my_##ALGORITHM##_impl_dae_fun_jac_x_xdot_z);           \
    DECLARED(my_##ALGORITHM##_impl_dae_jac_x_xdot_u_z);             \
    DECLARED(my_##ALGORITHM##_impl_dae_hess)
IMPLICIT(aba);
IMPLICIT(rnea);
DECLARED(my_step_dyn_disc_phi_fun);
DECLARED(my_step_dyn_disc_phi_fun_jac);
DECLARED(my_step_dyn_disc_phi_fun_jac_hess);
#define GENERIC(F, NAME, NP)                                        \
    external_function_param_generic F;                              \
    F.fun = NAME;                                                   \
    external_function_param_generic_create(&F, NP, &usual)

static external_function_opts usual;
static double start[NX] = { 0.1, 0.2, -0.3, 0.4 };
static const double force[NU] = { 0.5, -0.2 }, seed[NX] = { 0.7, -1.1, 0.4, 0.9 };

static void shown(const double *numbers, int size)
{
    for (int k = 0; k < size; ++k) printf("%.17g\n", numbers[k]);
}

struct function {
    const char *role;
    void *called;
};

/* Three steps of a Runge-Kutta method of four stages over 0.1 s, with sensitivities; a lifted one has only the first. */
static int integrated(sim_solver_t solver_type, const struct function *functions)
{
    sim_solver_plan_t plan = { .sim_solver = solver_type };
    sim_config *config = sim_config_create(plan);
    void *dims = sim_dims_create(config);
    int nx = NX, nu = NU, stages = 4, steps = 3, newton = 8;
    bool yes = true, further = solver_type != LIFTED_IRK;
    sim_dims_set(config, dims, "nx", &nx);
    sim_dims_set(config, dims, "nu", &nu);
    void *opts = sim_opts_create(config, dims);
    sim_opts_set(config, opts, "ns", &stages);
    sim_opts_set(config, opts, "num_steps", &steps);
    if (solver_type == IRK) sim_opts_set(config, opts, "newton_iter", &newton);
    sim_opts_set(config, opts, "sens_forw", &yes);
    sim_opts_set(config, opts, "sens_adj", &further);
    sim_opts_set(config, opts, "sens_hess", &further);
    sim_in *in = sim_in_create(config, dims);
    sim_out *out = sim_out_create(config, dims);
    double duration = 0.1, unit[NX * NY] = { 0 };
    for (int k = 0; k < NX; ++k) unit[k * (NX + 1)] = 1;
    sim_in_set(config, dims, in, "T", &duration);
    sim_in_set(config, dims, in, "x", (void *)start);
    sim_in_set(config, dims, in, "u", (void *)force);
    sim_in_set(config, dims, in, "S_forw", unit);
    sim_in_set(config, dims, in, "seed_adj", (void *)seed);
    for (int k = 0; k < (further ? 4 : 2); ++k) config->model_set(in->model, functions[k].role, functions[k].called);
    sim_solver *solver = sim_solver_create(config, dims, opts, in);
    sim_precompute(solver, in, out);
    int status = sim_solve(solver, in, out);
    for (int k = 1; k < newton && !further && !status; ++k) status = sim_solve(solver, in, out); /* an iteration a call */
    shown(out->xn, NX);
    shown(out->S_forw, NX * NY);
    if (further) shown(out->S_adj, NY);
    if (further) shown(out->S_hess, NY * NY);
    return status;
}

#define EXPLICITLY(HOW, MADE, TYPE)                                                                 \
    static int explicitly_by_##HOW(void)                                                            \
    {                                                                                               \
        MADE(ode, my_aba_expl_ode_fun##TYPE, 0);                                                    \
        MADE(forward, my_aba_expl_vde_forw##TYPE, 0);                                               \
        MADE(adjoint, my_aba_expl_vde_adj##TYPE, 0);                                                \
        MADE(second, my_aba_expl_ode_hess##TYPE, 0);                                                \
        const struct function functions[] = {                                                       \
            { "expl_ode_fun", &ode }, { "expl_vde_for", &forward },                                 \
            { "expl_vde_adj", &adjoint }, { "expl_ode_hess", &second },                             \
        };                                                                                          \
        return integrated(ERK, functions);                                                          \
    }
EXPLICITLY(pointers, CREATED, )
EXPLICITLY(generic_functions, GENERIC, _generic)

#define BY_RESIDUALS(ALGORITHM, HOW, MADE, TYPE)                                                    \
    static int by_residuals_of_##ALGORITHM##_by_##HOW(void)                                         \
    {                                                                                               \
        MADE(value, my_##ALGORITHM##_impl_dae_fun##TYPE, 0);                                        \
        MADE(slopes, my_##ALGORITHM##_impl_dae_fun_jac_x_xdot_z##TYPE, 0);                          \
        MADE(jacobians, my_##ALGORITHM##_impl_dae_jac_x_xdot_u_z##TYPE, 0);                         \
        MADE(second, my_##ALGORITHM##_impl_dae_hess##TYPE, 0);                                      \
        const struct function functions[] = {                                                       \
            { "impl_dae_fun", &value }, { "impl_dae_fun_jac_x_xdot_z", &slopes },                   \
            { "impl_dae_jac_x_xdot_u_z", &jacobians }, { "impl_dae_hess", &second },                \
        };                                                                                          \
        return integrated(IRK, functions);                                                          \
    }
BY_RESIDUALS(aba, pointers, CREATED, )
BY_RESIDUALS(rnea, pointers, CREATED, )
BY_RESIDUALS(aba, generic_functions, GENERIC, _generic)
BY_RESIDUALS(rnea, generic_functions, GENERIC, _generic)

#define BY_LIFTING(ALGORITHM)                                                                       \
    static int by_lifting_##ALGORITHM(void)                                                         \
    {                                                                                               \
        GENERIC(value, my_##ALGORITHM##_impl_dae_fun_generic, 0);                                   \
        GENERIC(slopes, my_##ALGORITHM##_impl_dae_fun_jac_x_xdot_u_generic, 0);                     \
        const struct function functions[] = {                                                       \
            { "impl_dae_fun", &value }, { "impl_dae_fun_jac_x_xdot_u", &slopes },                   \
        };                                                                                          \
        return integrated(LIFTED_IRK, functions);                                                   \
    }
BY_LIFTING(aba)
BY_LIFTING(rnea)

static int controlled(void *value, void *slopes, void *second);
static double dt = 0.05;
static bool bounded = false; /* torques, and the end is the goal */

#define SET(F) F.set_param(&F, &dt)

static int by_pointers(void)
{
    CREATED(value, my_step_dyn_disc_phi_fun, 1);
    CREATED(slopes, my_step_dyn_disc_phi_fun_jac, 1);
    CREATED(second, my_step_dyn_disc_phi_fun_jac_hess, 1);
    SET(value), SET(slopes), SET(second);
    return controlled(&value, &slopes, &second);
}

static int by_generic_functions(void)
{
    GENERIC(value, my_step_dyn_disc_phi_fun_generic, 1);
    GENERIC(slopes, my_step_dyn_disc_phi_fun_jac_generic, 1);
    GENERIC(second, my_step_dyn_disc_phi_fun_jac_hess_generic, 1);
    SET(value), SET(slopes), SET(second);
    return controlled(&value, &slopes, &second);
}

/* From the start to rest at an angle by discrete dynamics, by SQP with exact Hessians. */
static int controlled(void *value, void *slopes, void *second)
{
    ocp_nlp_plan_t *plan = ocp_nlp_plan_create(NODES);
    plan->nlp_solver = SQP;
    plan->ocp_qp_solver_plan.qp_solver = PARTIAL_CONDENSING_HPIPM;
    plan->regularization = NO_REGULARIZE;
    SETTLED(plan);
    int nx[NODES + 1], nu[NODES + 1], none[NODES + 1] = { 0 };
    for (int k = 0; k <= NODES; ++k) {
        nx[k] = NX;
        nu[k] = k < NODES ? NU : 0;
        plan->nlp_cost[k] = LINEAR_LS;
        plan->nlp_constraints[k] = BGH;
        if (k < NODES) plan->nlp_dynamics[k] = DISCRETE_MODEL;
    }
    ocp_nlp_config *config = ocp_nlp_config_create(*plan);
    ocp_nlp_dims *dims = ocp_nlp_dims_create(config);
    ocp_nlp_dims_set_opt_vars(config, dims, "nx", nx);
    ocp_nlp_dims_set_opt_vars(config, dims, "nu", nu);
    ocp_nlp_dims_set_opt_vars(config, dims, "nz", none);
    ocp_nlp_dims_set_opt_vars(config, dims, "ns", none);
    for (int k = 0; k <= NODES; ++k) {
        int ny = NX + nu[k], fixed = k == 0 || (k == NODES && bounded) ? NX : 0, limited = bounded ? nu[k] : 0;
        ocp_nlp_dims_set_cost(config, dims, k, "ny", &ny);
        ocp_nlp_dims_set_constraints(config, dims, k, "nbx", &fixed);
        ocp_nlp_dims_set_constraints(config, dims, k, "nbu", &limited);
    }
    ocp_nlp_in *in = ocp_nlp_in_create(config, dims);
    ocp_nlp_out *out = ocp_nlp_out_create(config, dims);
    for (int k = 0; k <= NODES; ++k) {
        const int ny = NX + nu[k];
        double Vx[NY * NX] = { 0 }, Vu[NY * NU] = { 0 }, W[NY * NY] = { 0 }, goal[NY] = { 0.6, -0.4 };
        for (int j = 0; j < NX; ++j) Vx[j * ny + j] = 1;
        for (int j = 0; j < nu[k]; ++j) Vu[j * ny + NX + j] = 1;
        for (int j = 0; j < ny; ++j) W[j * ny + j] = j < NX ? 10 : 1;
        double one = 1;
        ocp_nlp_cost_model_set(config, dims, in, k, "scaling", &one);
        ocp_nlp_cost_model_set(config, dims, in, k, "W", W);
        ocp_nlp_cost_model_set(config, dims, in, k, "Vx", Vx);
        if (k < NODES) ocp_nlp_cost_model_set(config, dims, in, k, "Vu", Vu);
        ocp_nlp_cost_model_set(config, dims, in, k, "yref", goal);
        if (k < NODES) {
            ocp_nlp_dynamics_model_set(config, dims, in, k, "disc_dyn_fun", value);
            ocp_nlp_dynamics_model_set(config, dims, in, k, "disc_dyn_fun_jac", slopes);
            ocp_nlp_dynamics_model_set(config, dims, in, k, "disc_dyn_fun_jac_hess", second);
        }
    }
    int places[NX] = { 0, 1, 2, 3 };
    ocp_nlp_constraints_model_set(config, dims, in, out, 0, "idxbx", places);
    ocp_nlp_constraints_model_set(config, dims, in, out, 0, "lbx", (void *)start);
    ocp_nlp_constraints_model_set(config, dims, in, out, 0, "ubx", (void *)start);
    double there[NX] = { 0.6, -0.4 }, low[NU] = { -0.1, -0.1 }, high[NU] = { 0.1, 0.1 };
    for (int k = 0; bounded && k < NODES; ++k) {
        ocp_nlp_constraints_model_set(config, dims, in, out, k, "idxbu", places);
        ocp_nlp_constraints_model_set(config, dims, in, out, k, "lbu", low);
        ocp_nlp_constraints_model_set(config, dims, in, out, k, "ubu", high);
    }
    if (bounded) {
        ocp_nlp_constraints_model_set(config, dims, in, out, NODES, "idxbx", places);
        ocp_nlp_constraints_model_set(config, dims, in, out, NODES, "lbx", there);
        ocp_nlp_constraints_model_set(config, dims, in, out, NODES, "ubx", there);
    }
    void *opts = ocp_nlp_solver_opts_create(config, dims);
    bool exact = true;
    int most = 50;
    double small = 1e-10;
    ocp_nlp_solver_opts_set(config, opts, "exact_hess", &exact);
    ocp_nlp_solver_opts_set(config, opts, "max_iter", &most);
    ocp_nlp_solver_opts_set(config, opts, "tol_stat", &small);
    ocp_nlp_solver_opts_set(config, opts, "tol_eq", &small);
    ocp_nlp_solver_opts_set(config, opts, "tol_ineq", &small);
    ocp_nlp_solver_opts_set(config, opts, "tol_comp", &small);
    ocp_nlp_solver *solver = ocp_nlp_solver_create(config, dims, opts, in);
    ocp_nlp_precompute(solver, in, out);
    for (int k = 0; k <= NODES; ++k) ocp_nlp_out_set(config, dims, out, in, k, "x", (void *)start);
    const int status = ocp_nlp_solve(solver, in, out);
    for (int k = 0; k <= NODES; ++k) {
        double x[NX], u[NU];
        ocp_nlp_out_get(config, dims, out, k, "x", x);
        shown(x, NX);
        if (k < NODES) ocp_nlp_out_get(config, dims, out, k, "u", u);
        if (k < NODES) shown(u, NU);
    }
    int iterations;
    ocp_nlp_get(solver, "sqp_iter", &iterations);
    fprintf(stderr, "status %d after %d iterations\n", status, iterations);
    return status;
}

int main(int count, char **asked)
{
    external_function_opts_set_to_default(&usual);
    if (count > 1) {
        bounded = !strcmp(asked[1], "far");
        if (!bounded) start[0] = NAN;
        return by_generic_functions();
    }
    int status = explicitly_by_pointers() || explicitly_by_generic_functions();
#ifdef EARLIER /* its implicit integrators know no time */
    (void)by_residuals_of_aba_by_pointers, (void)by_residuals_of_rnea_by_pointers;
    (void)by_residuals_of_aba_by_generic_functions, (void)by_residuals_of_rnea_by_generic_functions;
    (void)by_lifting_aba, (void)by_lifting_rnea;
#else
    status = status || by_residuals_of_aba_by_pointers() || by_residuals_of_aba_by_generic_functions();
    status = status || by_residuals_of_rnea_by_pointers() || by_residuals_of_rnea_by_generic_functions();
    status = status || by_lifting_aba() || by_lifting_rnea();
#endif
    return status || by_pointers() || by_generic_functions();
}
