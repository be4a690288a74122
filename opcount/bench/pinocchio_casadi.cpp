// Pinocchio's algorithms over CasADi's SX: their expressions as a function of CasADi's, saved to a file.
//
// A quaternion is normalised first, as our functions do it.

#include <casadi/casadi.hpp>

#include "pinocchio/autodiff/casadi.hpp"
#include "pinocchio_robot.hpp"

#include "pinocchio/algorithm/aba.hpp"
#include "pinocchio/algorithm/rnea.hpp"

// Writes `algorithm` of the robot in the file `path` to the file `saved`; not 0 if that does not work.
extern "C" int peer_expressions(const char *path, const char *algorithm, const char *saved)
{
    using SX = casadi::SX;
    using Symbols = Eigen::Matrix<SX, Eigen::Dynamic, 1>;
    try {
        const auto model = read(path).cast<SX>();
        pinocchio::DataTpl<SX> data(model);
        const SX q = SX::sym("q", model.nq), v = SX::sym("v", model.nv), x = SX::sym("x", model.nv);
        SX unit = q;
        for (const auto &joint : model.joints) {
            const int floats = joint.nq() == 7, first = joint.idx_q() + 3*floats;
            if (!floats && joint.nq() != 4) continue;
            const casadi::Slice four(first, first + 4);
            unit(four) = q(four)/norm_2(q(four));
        }
        Symbols position(model.nq), velocity(model.nv), other(model.nv);
        pinocchio::casadi::copy(unit, position);
        pinocchio::casadi::copy(v, velocity);
        pinocchio::casadi::copy(x, other);
        const bool forward = std::string(algorithm) == "aba";
        SX result(model.nv, 1);
        if (forward) pinocchio::casadi::copy(pinocchio::aba(model, data, position, velocity, other), result);
        else pinocchio::casadi::copy(pinocchio::rnea(model, data, position, velocity, other), result);
        casadi::Function(std::string("pinocchio_") + algorithm, {q, v, x}, {result}).save(saved);
    } catch (const std::exception &) {
        return 1;
    }
    return 0;
}
