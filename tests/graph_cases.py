"""Graphs to test with: one with every operation, and one of a small mechanism."""

from __future__ import annotations

import casadi
import numpy as np

from codegen.emission.spec import Header, JointRow, Kernel
from codegen.ir.counting import count
from codegen.ir.graph import Graph, Port, Value, from_casadi
from codegen.ir.operations import INPUT, OPERATIONS


def turn() -> Graph:
    """A rotation and a swap."""
    values = [Value(INPUT, port=0, element=k) for k in range(3)]
    values += [Value("cos", (2,)), Value("sin", (2,)), Value("mul", (0, 3)), Value("mul", (1, 4))]
    values += [Value("sub", (5, 6)), Value("add", (7, 0))]
    return Graph("turn", (Port("x", (3,)),), (Port("y", (3,)),), tuple(values), ((8, 0, 1),))


def powers() -> Graph:
    """Powers of the first input, and then sums with the others: results that need not wait until those are read."""
    values = [Value(INPUT, port=0, element=k) for k in range(3)]
    values += [Value("mul", (0, 0)), *(Value("mul", (k, 0)) for k in range(3, 10))]
    values += [Value("add", (10, 2)), Value("add", (9, 1))]
    return Graph("powers", (Port("x", (3,)),), (Port("y", (10,)),), tuple(values), ((*range(3, 9), 11, 12, 2, 1),))


def everything(graph: Graph) -> Graph:
    """The same graph with every value as a result."""
    size = len(graph.values)
    return Graph(graph.name, graph.inputs, (Port("y", (size,)),), graph.values, (tuple(range(size)),))


def one_of_each() -> Graph:
    """Every operation once, on a and b."""
    values = [Value(INPUT, port=0, element=0), Value(INPUT, port=1, element=0)]
    values += [Value(name, (0, 1)[: op.arity]) for name, op in OPERATIONS.items()]
    result = tuple(range(2, len(values)))
    ports = (Port("a", (), "a number"), Port("b", (1,), "another"))
    return Graph("each", ports, (Port("y", (len(result),)),), tuple(values), (result,))


def pendulum() -> Graph:
    """Two links in a plane: mass matrix (row-major, symmetric), bias torque, and a structural zero."""
    q, v = casadi.SX.sym("q", 2), casadi.SX.sym("v", 2)
    c, s = casadi.cos(q[1]), casadi.sin(q[1])
    M = [3.0 + 2.0 * c, 1.0 + c, 1.0 + c, casadi.SX(1.0)]
    h = [-s * v[1] * (2 * v[0] + v[1]) + 9.81 * casadi.sin(q[0]), s * v[0] * v[0] / M[0]]
    bias = casadi.SX(3, 1)
    bias[0], bias[2] = h
    function = casadi.Function("f", [q, v], [casadi.vertcat(*M), bias], {"live_variables": False})
    inputs = (Port("q", (2,), "joint angles, rad"), Port("v", (2,), "joint velocities, rad/s"))
    outputs = (Port("M", (2, 2), "mass matrix, kg m^2"), Port("h", (3,), "bias torques, N m"))
    return from_casadi(function, inputs, outputs, "pendulum")


def pendulum_by_hand(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What `pendulum` computes, for one state."""
    c, s = np.cos(q[1]), np.sin(q[1])
    M = np.array([[3 + 2 * c, 1 + c], [1 + c, 1.0]])
    return M, np.array([-s * v[1] * (2 * v[0] + v[1]) + 9.81 * np.sin(q[0]), 0.0, s * v[0] ** 2 / M[0, 0]])


def header(prefix: str = "arm", robot: str = "two-link arm") -> Header:
    rows = tuple(JointRow(f"joint {k}", "revolute", (k, k + 1), (k, k + 1)) for k in range(2))
    return Header(robot, prefix, 2, 2, rows, "fixed base", usual=(("q", (0.0, 0.0)),), digest="0" * 64)


def kernel(graph: Graph) -> Kernel:
    return Kernel(graph, "a test", count(graph))
