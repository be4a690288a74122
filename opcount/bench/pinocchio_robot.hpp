// A robot of Pinocchio's from a small text file, states held ready, and what times a function over them.
//
// The file's first line is the number of bodies and gravity; then one line per body, parents first: parent (0:
// the world), type, axis, rotation (row-major) and translation of the joint in the parent, mass, centre of mass,
// moment about it (xx yy zz xy xz yz), armature.

#pragma once

// Pinocchio's list of joints is longer than Boost's default limit.
#define BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
#define BOOST_MPL_LIMIT_LIST_SIZE 30
#define BOOST_MPL_LIMIT_VECTOR_SIZE 30
#define BOOST_FUSION_INVOKE_MAX_ARITY 12

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "pinocchio/multibody.hpp"

namespace {

using pinocchio::Data;
using pinocchio::Model;
using Vector = Eigen::VectorXd;

struct State {
    Vector q, v, x;  // x: the acceleration of rnea, the joint forces of aba
};

struct Peer {
    Model model;
    std::unique_ptr<Data> data;
    std::vector<State> states;
};

Eigen::Index add(Model &model, Eigen::Index parent, const std::string &type, const Eigen::Vector3d &axis,
                 const pinocchio::SE3 &placement, const std::string &name)
{
    const auto joint = [&](const auto &kind) { return model.addJoint(parent, kind, placement, name); };
    if (type == "revolute" && axis == Eigen::Vector3d::UnitX()) return joint(pinocchio::JointModelRX());
    if (type == "revolute" && axis == Eigen::Vector3d::UnitY()) return joint(pinocchio::JointModelRY());
    if (type == "revolute" && axis == Eigen::Vector3d::UnitZ()) return joint(pinocchio::JointModelRZ());
    if (type == "revolute") return joint(pinocchio::JointModelRevoluteUnaligned(axis));
    if (type == "prismatic" && axis == Eigen::Vector3d::UnitX()) return joint(pinocchio::JointModelPX());
    if (type == "prismatic" && axis == Eigen::Vector3d::UnitY()) return joint(pinocchio::JointModelPY());
    if (type == "prismatic" && axis == Eigen::Vector3d::UnitZ()) return joint(pinocchio::JointModelPZ());
    if (type == "prismatic") return joint(pinocchio::JointModelPrismaticUnaligned(axis));
    if (type == "spherical") return joint(pinocchio::JointModelSpherical());
    if (type == "floating") return joint(pinocchio::JointModelFreeFlyer());
    throw std::invalid_argument("joint type " + type);
}

Model read(const char *path)
{
    std::ifstream file(path);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    Model model;
    std::vector<double> armature;
    const auto numbers = [&](auto &&...targets) { (file >> ... >> targets); };
    Eigen::Vector3d gravity;
    std::size_t bodies = 0;
    numbers(bodies, gravity[0], gravity[1], gravity[2]);
    for (std::size_t k = 0; k < bodies; ++k) {
        Eigen::Index parent = 0;
        std::string type;
        Eigen::Vector3d axis, p, com;
        Eigen::Matrix3d R, I;
        double mass = 0, rotor = 0;
        numbers(parent, type, axis[0], axis[1], axis[2]);
        for (int i = 0; i < 9; ++i) file >> R(i / 3, i % 3);
        numbers(p[0], p[1], p[2], mass, com[0], com[1], com[2]);
        numbers(I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2), rotor);
        I(1, 0) = I(0, 1), I(2, 0) = I(0, 2), I(2, 1) = I(1, 2);
        const auto joint = add(model, parent, type, axis, pinocchio::SE3(R, p), "joint " + std::to_string(k));
        model.appendBodyToJoint(joint, pinocchio::Inertia(mass, com, I), pinocchio::SE3::Identity());
        armature.resize(static_cast<std::size_t>(model.nv), rotor);
    }
    model.gravity.linear(gravity);
    model.armature = Eigen::Map<Vector>(armature.data(), model.nv);
    return model;
}

// Nanoseconds of `rounds` passes over the states, after one untimed pass that warms the caches.
template <typename Call> double timed(Peer &peer, std::size_t rounds, const Call &call)
{
    for (const State &state : peer.states) call(state);
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t round = 0; round < rounds; ++round)
        for (const State &state : peer.states) call(state);
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
    return passed.count();
}

// Times where there are rounds; otherwise writes the result of every state, one after the other.
template <typename Call, typename Result>
double run(Peer &peer, std::size_t rounds, double *out, const Call &call, const Result &result)
{
    if (rounds) return timed(peer, rounds, call);
    for (const State &state : peer.states) {
        call(state);
        const Eigen::MatrixXd values = result();
        Eigen::Map<Eigen::MatrixXd>(out, values.rows(), values.cols()) = values;
        out += values.size();
    }
    return 0.0;
}

template <typename Matrix> Eigen::MatrixXd symmetric(const Matrix &upper)
{
    return upper.template selfadjointView<Eigen::Upper>();
}

}  // namespace

extern "C" {

void *peer_open(const char *path)
{
    try {
        auto peer = std::make_unique<Peer>();
        peer->model = read(path);
        peer->data = std::make_unique<Data>(peer->model);
        return peer.release();
    } catch (const std::exception &) {
        return nullptr;
    }
}

void peer_close(void *peer) { delete static_cast<Peer *>(peer); }

void peer_states(void *handle, std::size_t states, const double *q, const double *v, const double *x)
{
    Peer &peer = *static_cast<Peer *>(handle);
    const auto nq = peer.model.nq, nv = peer.model.nv;
    peer.states.clear();
    for (std::size_t k = 0; k < states; ++k, q += nq, v += nv, x += nv)
        peer.states.push_back({Eigen::Map<const Vector>(q, nq), Eigen::Map<const Vector>(v, nv),
                               Eigen::Map<const Vector>(x, nv)});
}

}  // extern "C"
