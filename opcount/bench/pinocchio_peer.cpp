// Pinocchio's unconstrained dynamics behind a plain C interface: one function per algorithm that times itself.

#include "pinocchio_robot.hpp"

#include "pinocchio/algorithm/aba.hpp"
#include "pinocchio/algorithm/aba-derivatives.hpp"
#include "pinocchio/algorithm/cholesky.hpp"
#include "pinocchio/algorithm/crba.hpp"
#include "pinocchio/algorithm/rnea.hpp"
#include "pinocchio/algorithm/rnea-derivatives.hpp"

namespace {

void forward_by_ltl(const Model &model, Data &data, const State &s)
{
    pinocchio::nonLinearEffects(model, data, s.q, s.v);
    pinocchio::crba(model, data, s.q);
    pinocchio::cholesky::decompose(model, data);
    data.ddq = s.x - data.nle;
    pinocchio::cholesky::solve(model, data, data.ddq);
}

}  // namespace

extern "C" {

// rounds: see `run`; the result is nanoseconds.
#define PEER(name, call, result) \
    double peer_##name(void *handle, std::size_t rounds, double *out) \
    { \
        Peer &peer = *static_cast<Peer *>(handle); \
        const Model &model = peer.model; \
        Data &data = *peer.data; \
        return run(peer, rounds, out, [&](const State &s) { call; }, [&] { return result; }); \
    }

PEER(rnea, pinocchio::rnea(model, data, s.q, s.v, s.x), data.tau)
PEER(crba, pinocchio::crba(model, data, s.q), symmetric(data.M))
PEER(crba_world, pinocchio::crba(model, data, s.q, pinocchio::Convention::WORLD), symmetric(data.M))
PEER(aba, pinocchio::aba(model, data, s.q, s.v, s.x), data.ddq)
PEER(aba_world, pinocchio::aba(model, data, s.q, s.v, s.x, pinocchio::Convention::WORLD), data.ddq)
PEER(ltl, forward_by_ltl(model, data, s), data.ddq)
PEER(rnea_derivatives, pinocchio::computeRNEADerivatives(model, data, s.q, s.v, s.x), data.dtau_dq.transpose())
PEER(aba_derivatives, pinocchio::computeABADerivatives(model, data, s.q, s.v, s.x), data.ddq_dq.transpose())
PEER(minverse, pinocchio::computeMinverse(model, data, s.q), symmetric(data.Minv))

}  // extern "C"
