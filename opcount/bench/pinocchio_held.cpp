// Pinocchio's constrained dynamics and Delassus matrices behind a plain C interface: one function per algorithm
// that times itself, on a robot of pinocchio_robot.hpp with points and frames held.

#include "pinocchio_robot.hpp"

#include "pinocchio/algorithm/constrained-dynamics.hpp"
#include "pinocchio/algorithm/constrained-dynamics-derivatives.hpp"
#include "pinocchio/algorithm/crba.hpp"
#include "pinocchio/algorithm/delassus.hpp"
#include "pinocchio/algorithm/pv.hpp"

namespace {

using pinocchio::RigidConstraintData;
using pinocchio::RigidConstraintModel;

// A contact of 3 or 6 rows as the algorithms of pv.hpp ask for it; their own types cannot be mixed in one call.
// With this Size they take the first three rows of every contact as a point's classical acceleration.
struct Held {
    using SE3 = pinocchio::SE3;
    using BaumgarteCorrectorParameters = RigidConstraintModel::BaumgarteCorrectorParameters;
    static constexpr int Size = 3;

    pinocchio::JointIndex joint1_id;
    SE3 joint1_placement;
    int rows;
    BaumgarteCorrectorParameters gains;

    int residualSize() const { return rows; }
    const BaumgarteCorrectorParameters &baumgarte_corrector_parameters() const { return gains; }
};

struct HeldData {
    Eigen::Vector3d constraint_acceleration_error;
};

// A peer with its contacts; every family of algorithms keeps data of its own.
struct Bound {
    Peer &peer;
    pinocchio::ProximalSettings settings;
    std::vector<Held> held;
    std::vector<HeldData> held_data;
    std::vector<RigidConstraintModel> rigid;
    std::vector<RigidConstraintData> ltl_data, pv_data, efpa_data;
    Data sweeps, ltl, pv, efpa;
    Eigen::MatrixXd W;
};

void derivatives(Bound &b, const State &s)
{
    pinocchio::constraintDynamics(b.peer.model, b.ltl, s.q, s.v, s.x, b.rigid, b.ltl_data, b.settings);
    pinocchio::computeConstraintDynamicsDerivatives(b.peer.model, b.ltl, b.rigid, b.ltl_data, b.settings);
}

// Factors of the damped KKT matrix along the tree's branches.
void factors(Bound &b, const State &s)
{
    pinocchio::crba(b.peer.model, b.ltl, s.q, pinocchio::Convention::WORLD);
    pinocchio::calc(b.peer.model, b.ltl, b.rigid, b.ltl_data);
    b.ltl.constraint_chol.compute(b.peer.model, b.ltl, b.rigid, b.ltl_data, b.settings.mu);
}

const Eigen::MatrixXd &damped_inverse(Bound &b)
{
    b.ltl.constraint_chol.getOperationalSpaceInertiaMatrix(b.W);
    return b.W;
}

}  // namespace

extern "C" {

// The peer with contacts on `joints` (from 1), each with 3 or 6 rows at a placement (rotation row-major, translation).
// mu damps the Delassus matrix; no residual stops an algorithm before its last iteration.
void *peer_hold(void *handle, std::size_t contacts, const std::size_t *joints, const std::size_t *rows,
                const double *placements, double mu, int iterations)
{
    Peer &peer = *static_cast<Peer *>(handle);
    const Data fresh(peer.model);
    auto bound = std::make_unique<Bound>(
        Bound{peer, {0.0, mu, iterations}, {}, {}, {}, {}, {}, {}, fresh, fresh, fresh, fresh, {}});
    bound->settings.absolute_accuracy = bound->settings.relative_accuracy = -1.0;
    Eigen::Index size = 0;
    for (std::size_t k = 0; k < contacts; ++k, placements += 12) {
        const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> R(placements);
        const pinocchio::SE3 placement(R, Eigen::Map<const Eigen::Vector3d>(placements + 9));
        const auto type = rows[k] == 3 ? pinocchio::CONTACT_3D : pinocchio::CONTACT_6D;
        bound->held.push_back({joints[k], placement, static_cast<int>(rows[k]), {}});
        size += static_cast<Eigen::Index>(rows[k]);
        bound->rigid.emplace_back(type, peer.model, joints[k], placement, pinocchio::LOCAL);
    }
    bound->held_data.resize(contacts);
    for (const auto &contact : bound->rigid) {
        bound->ltl_data.emplace_back(contact);
        bound->pv_data.emplace_back(contact);
        bound->efpa_data.emplace_back(contact);
    }
    bound->W = Eigen::MatrixXd::Zero(size, size);
    pinocchio::initPvSolver(peer.model, bound->sweeps, bound->held);
    pinocchio::initConstraintDynamics(peer.model, bound->ltl, bound->rigid, bound->ltl_data);
    pinocchio::initPvDelassus(peer.model, bound->pv, bound->rigid);
    return bound.release();
}

// rounds: see `run`; the result is nanoseconds.
#define PEER(name, call, result) \
    double peer_##name(void *handle, std::size_t rounds, double *out) \
    { \
        Bound &b = *static_cast<Bound *>(handle); \
        const Model &model = b.peer.model; \
        return run(b.peer, rounds, out, [&](const State &s) { call; }, [&] { return result; }); \
    }

PEER(prox_pv, pinocchio::pv(model, b.sweeps, s.q, s.v, s.x, b.held, b.held_data, b.settings), b.sweeps.ddq)
PEER(prox_ltl, pinocchio::constraintDynamics(model, b.ltl, s.q, s.v, s.x, b.rigid, b.ltl_data, b.settings), b.ltl.ddq)
PEER(damped_pv, pinocchio::computeDampedDelassusMatrixInverse(model, b.pv, s.q, b.rigid, b.pv_data, b.W, b.settings.mu),
     symmetric(b.W))
PEER(damped_efpa, pinocchio::computeDampedDelassusMatrixInverse(
                      model, b.efpa, s.q, b.rigid, b.efpa_data, b.W, b.settings.mu, false, false), symmetric(b.W))
PEER(damped_factors, factors(b, s), damped_inverse(b))
PEER(damped_ltl, factors(b, s); damped_inverse(b), b.W)
PEER(delassus_pv, pinocchio::computePvDelassusMatrix(model, b.pv, s.q, b.rigid, b.pv_data, b.W, 0.0), symmetric(b.W))
PEER(delassus_efpa, pinocchio::computeDelassusMatrix(model, b.efpa, s.q, b.rigid, b.efpa_data, b.W), symmetric(b.W))

PEER(derivatives, derivatives(b, s), b.ltl.ddq_dq.transpose())

// constrainedABA takes the accelerations of the call before for its first step of the multipliers. For results, a
// call of one iteration goes before, which takes no such step and leaves the accelerations of the same state.
double peer_constrained_aba(void *handle, std::size_t rounds, double *out)
{
    Bound &b = *static_cast<Bound *>(handle);
    const auto call = [&](const State &s) {
        pinocchio::constrainedABA(b.peer.model, b.sweeps, s.q, s.v, s.x, b.held, b.held_data, b.settings);
    };
    if (rounds) return timed(b.peer, rounds, call);
    const int iterations = b.settings.max_iter;
    const auto both = [&](const State &s) {
        b.settings.max_iter = 1;
        call(s);
        b.settings.max_iter = iterations;
        call(s);
    };
    return run(b.peer, 0, out, both, [&] { return b.sweeps.ddq; });
}

}  // extern "C"
