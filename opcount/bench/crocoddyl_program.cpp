/* An action of ours beside Crocoddyl's own at random states: the largest relative error of everything that they share, and
 * microseconds of calc and calcDiff of both. action.hpp names ACTION; the arguments are a robot in numbers, the rows of a
 * contact (3 or 6) and the held frames.
 */
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include <pinocchio/algorithm/joint-configuration.hpp>

#include <crocoddyl/core/activations/quadratic.hpp>
#include <crocoddyl/core/costs/residual.hpp>
#include <crocoddyl/multibody/actions/contact-fwddyn.hpp>
#include <crocoddyl/multibody/contacts/contact-3d.hpp>
#include <crocoddyl/multibody/contacts/contact-6d.hpp>
#include <crocoddyl/multibody/residuals/com-position.hpp>

#include "action.hpp"

using crocoddyl::CostModelResidual;
using Vector = Eigen::VectorXd;

static double worst(const Eigen::Ref<const Eigen::MatrixXd> &ours, const Eigen::Ref<const Eigen::MatrixXd> &theirs)
{
    return (ours - theirs).cwiseAbs().maxCoeff()/std::max(1.0, theirs.cwiseAbs().maxCoeff());
}

/* The shortest of many rounds. */
template <class Action>
static double microseconds(Action call)
{
    double least = 1e9;
    for (int round = 0; round < 200; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < 20; ++k) call();
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        least = std::min(least, took.count()/20);
    }
    return least;
}

/* Joints, each with its parent, whether it floats, its axis, placement (12), mass, centre and inertia about it (9); then
 * frames, each with its joint and placement.
 */
static void read(const char *path, pinocchio::Model &model)
{
    std::ifstream file(path);
    const auto matrix = [&](int rows, int columns) {
        Eigen::MatrixXd found(rows, columns);
        for (int k = 0; k < rows*columns; ++k) file >> found(k/columns, k % columns);
        return found;
    };
    const auto pose = [&] {
        const Eigen::Matrix3d R = matrix(3, 3);
        const Eigen::Vector3d p = matrix(3, 1);
        return pinocchio::SE3(R, p);
    };
    int joints, frames;
    file >> joints >> frames;
    for (int k = 0; k < joints; ++k) {
        std::size_t parent;
        int floats;
        std::string name;
        file >> name >> parent >> floats;
        const Eigen::Vector3d axis = matrix(3, 1);
        const pinocchio::SE3 place = pose();
        const double mass = matrix(1, 1)(0, 0);
        const Eigen::Vector3d centre = matrix(3, 1);
        const Eigen::Matrix3d moment = matrix(3, 3);
        const pinocchio::JointModel joint = floats ? pinocchio::JointModel(pinocchio::JointModelFreeFlyer())
                                                   : pinocchio::JointModel(pinocchio::JointModelRevoluteUnaligned(axis));
        const auto index = model.addJoint(parent, joint, place, name);
        model.appendBodyToJoint(index, pinocchio::Inertia(mass, centre, moment), pinocchio::SE3::Identity());
    }
    for (int k = 0; k < frames; ++k) {
        std::size_t joint;
        std::string name;
        file >> name >> joint;
        model.addFrame(pinocchio::Frame(name, joint, 0, pose(), pinocchio::OP_FRAME));
    }
}

int main(int count, char **words)
{
    pinocchio::Model model;
    read(words[1], model);
    const auto state = std::make_shared<crocoddyl::StateMultibody>(std::make_shared<pinocchio::Model>(model));
    const auto actuation = std::make_shared<crocoddyl::ActuationModelFloatingBase>(state);
    const std::size_t nu = actuation->get_nu();
    const auto costs = std::make_shared<crocoddyl::CostModelSum>(state, nu);
    const auto contacts = std::make_shared<crocoddyl::ContactModelMultiple>(state, nu);
    const auto add = [&](const char *name, std::shared_ptr<crocoddyl::ResidualModelAbstract> residual) {
        costs->addCost(name, std::make_shared<CostModelResidual>(state, residual), 0.3);
    };
    add("state", std::make_shared<crocoddyl::ResidualModelState>(state, nu));
    add("control", std::make_shared<crocoddyl::ResidualModelControl>(state, nu));
    const crocoddyl::FrictionCone cone(Eigen::Matrix3d::Identity(), 0.7, 4, false);
    const bool welded = std::string(words[2]) == "6";
    const Eigen::Vector2d gains(0, 5);
    for (int k = 3; k < count; ++k) {
        const auto frame = model.getFrameId(words[k]);
        std::shared_ptr<crocoddyl::ContactModelAbstract> contact;
        if (welded) {
            const auto place = pinocchio::SE3::Identity();
            contact = std::make_shared<crocoddyl::ContactModel6D>(state, frame, place, pinocchio::LOCAL, nu, gains);
        } else {
            const Eigen::Vector3d place = Eigen::Vector3d::Zero();
            contact = std::make_shared<crocoddyl::ContactModel3D>(state, frame, place, pinocchio::LOCAL, nu, gains);
        }
        contacts->addContact(words[k], contact);
    }
    const auto ours = std::make_shared<ACTION>(state, actuation, costs, contacts, true);
    const auto theirs = std::make_shared<crocoddyl::DifferentialActionModelContactFwdDynamics>(
        state, actuation, contacts, costs, 0.0, true);
    double error = 0, times[4] = {};
    for (int tried = 0; tried < 2; ++tried) {
        const auto a = ours->createData(), b = theirs->createData(); /* of all costs that there are by now */
        for (int k = 0; k < 3; ++k) {
            const Vector step = Vector::Random(model.nv), v = Vector::Random(model.nv), rest = pinocchio::neutral(model);
            if (tried) costs->changeCostStatus("com", k != 1); /* which leaves costs on the state and the control */
            if (tried) costs->changeCostStatus("cone", k != 1);
            Vector x(model.nq + model.nv);
            x << pinocchio::integrate(model, rest, step), v;
            const Vector u = Vector::Random(static_cast<int>(nu));
            ours->calc(a, x, u);
            theirs->calc(b, x, u);
            ours->calcDiff(a, x, u);
            theirs->calcDiff(b, x, u);
            error = std::max({ error, worst(a->xout, b->xout), worst(a->Fx, b->Fx), worst(a->Fu, b->Fu), worst(a->Lx, b->Lx),
                worst(a->Lu, b->Lu), worst(a->Lxx, b->Lxx), worst(a->Lxu, b->Lxu), worst(a->Luu, b->Luu),
                std::abs(a->cost - b->cost)/std::max(1.0, std::abs(b->cost)) });
            if (tried || k) continue;
            times[0] = microseconds([&] { ours->calc(a, x, u); });
            times[1] = microseconds([&] { ours->calcDiff(a, x, u); });
            times[2] = microseconds([&] { theirs->calc(b, x, u); });
            times[3] = microseconds([&] { theirs->calcDiff(b, x, u); });
        }
        if (tried) break;
        /* from now on with costs on kinematics and on forces */
        add("com", std::make_shared<crocoddyl::ResidualModelCoMPosition>(state, Eigen::Vector3d::Ones(), nu));
        add("cone", std::make_shared<crocoddyl::ResidualModelContactFrictionCone>(state, model.getFrameId(words[3]), cone, nu));
    }
    std::printf("%g %.2f %.2f %.2f %.2f\n", error, times[0], times[1], times[2], times[3]);
    return 0;
}
