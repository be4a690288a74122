"""Factors of the KKT matrix of constrained dynamics, sparse and dense (Carpentier, Budhiraja, Mansard, RSS 2021).

The matrix [[-1/mu, J], [J', M]] of order n + m, M and J given: without fill-in along the branches of the tree; as a
dense matrix; and by way of the Delassus matrix, M sparsely, W = J M^-1 J', W densely. The last one are the same
operations as the first. The figures of the talk show times; `kkt_timings` has those of dynamics. Cassie's linkages are
clusters of the tree here, and constraints there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from casadi import SX, Function, blockcat, symvar, veccat

from codegen.cli.table import Cell, Table
from codegen.model.contacts import contact_of
from codegen.spatial import LDL, LTDL, ldl, ltdl
from opcount.store import opened
from opcount.studies.drawing import Bars
from opcount.studies.measured import Held, digest
from opcount.studies.study import Study

if TYPE_CHECKING:
    from codegen.model import Contact, Model

ROBOTS = {
    "solo8 F3^4": Held("solo8", tuple(f"{leg}_FOOT:3" for leg in ("FL", "FR", "HL", "HR"))),
    "anymal_b F3^4": Held("anymal_b", tuple(f"{leg}_FOOT:3" for leg in ("LF", "RF", "LH", "RH"))),
    "icub F6^2": Held("icub", ("l_sole:6", "r_sole:6")),
    "talos F6^2": Held("talos", ("left_sole_link:6", "right_sole_link:6")),
    "cassie F6^2": Held("cassie", ("left-foot:6", "right-foot:6")),
}
SPARSE, DENSE, DELASSUS = "sparse KKT", "dense KKT", "M and Delassus matrix"


@dataclass(frozen=True, slots=True)
class System:
    """M and J of a robot with contacts as symbols where they are not zero, and the tree's order of M."""

    M: SX
    J: SX
    parent: tuple[int, ...]

    @classmethod
    def of(cls, model: Model, contacts: tuple[Contact, ...]) -> System:
        """The symbols: entries of M are of pairs of coordinates on one path to the root, those of J of paths."""
        parent = coordinates(model)
        M, J = SX(model.nv, model.nv), SX(sum(len(contact.rows) for contact in contacts), model.nv)
        for i in range(model.nv):
            for j in path(parent, i):
                M[i, j] = M[j, i] = SX.sym(f"M{i}_{j}")
        row = 0
        for contact in contacts:
            node = next(i for i, node in enumerate(model.nodes) if contact.frame.body in node.bodies)
            for _ in contact.rows:
                for j in path(parent, last(model)[node]):
                    J[row, j] = SX.sym(f"J{row}_{j}")
                row += 1
        return cls(M, J, parent)

    @property
    def KKT(self) -> tuple[SX, tuple[int, ...]]:
        """The whole matrix, the rows of all contacts above the root of the tree, and its order."""
        m = self.J.size1()
        K = blockcat([[SX.sym("damping") * -SX.eye(m), self.J], [self.J.T, self.M]])
        return K, (*range(-1, m - 1), *(m + p if p >= 0 else m - 1 for p in self.parent))


def last(model: Model) -> list[int]:
    """By nodes, the last of their velocity coordinates, with those of the carrier where a node has none (-1: none)."""
    found, end = list[int](), 0
    for node, bodies in zip(model.nodes, model.velocity_bodies, strict=True):
        size = sum(model.joints[b].nv for b in bodies)
        end += size
        found.append(end - 1 if size else (found[node.parent] if node.parent >= 0 else -1))
    return found


def coordinates(model: Model) -> tuple[int, ...]:
    """By velocity coordinates, the next one towards the root (-1: none)."""
    ends, parent = last(model), list[int]()
    for node, bodies in zip(model.nodes, model.velocity_bodies, strict=True):
        above = ends[node.parent] if node.parent >= 0 else -1
        for _ in range(sum(model.joints[b].nv for b in bodies)):
            parent.append(above)
            above = len(parent) - 1
    return tuple(parent)


def path(parent: tuple[int, ...], i: int) -> list[int]:
    """Coordinate i and those on the way to the root."""
    found = []
    while i >= 0:
        found.append(i)
        i = parent[i]
    return found


def operations(*factors: LTDL | LDL) -> int:
    """Operations of factors, all together."""
    entries = [entry for one in factors for row in one.L for entry in (row.values() if isinstance(row, dict) else row)]
    results = veccat(*entries, *(pivot for one in factors for pivot in one.d))
    function = Function("factors", [veccat(*symvar(results))], [results])
    return int(function.n_instructions() - function.nnz_in() - function.nnz_out())


def factored(system: System) -> dict[str, int]:
    """Operations of the three ways to factors."""
    K, parent = system.KKT
    n = K.size1()
    M = ltdl(system.M, system.parent)
    Y = M.forward(system.J.T)
    damping = SX.sym("damping") * SX.eye(system.J.size1())
    return {
        SPARSE: operations(ltdl(K, parent)),
        DENSE: operations(ltdl(SX.sym("K", n, n), tuple(range(-1, n - 1)))),
        DELASSUS: operations(M, ldl(Y.T @ M.scale(Y) + damping)),
    }


def _factored(model: Model, contacts: tuple[Contact, ...]) -> dict[str, int]:
    return factored(System.of(model, contacts))


@dataclass(frozen=True, slots=True)
class Factored:
    """Robots with contacts by names; makes the table of operations. Quick is the first robot alone."""

    robots: Mapping[str, Held]

    def __call__(self, quick: bool = False) -> Table:
        """One row per robot and method; `times` says how many times as many as the sparse factors take."""
        rows: list[tuple[Cell, ...]] = []
        for name, held in [*self.robots.items()][: 1 if quick else None]:
            model = held.model()
            contacts = tuple(contact_of(model, text) for text in held.contacts)
            order = model.nv + sum(len(contact.rows) for contact in contacts)
            make = partial(_factored, model, contacts)
            counts = opened().made(f"kkt {digest(held)} {held.contacts!r}", make)
            rows += [(name, way, order, count, round(count / counts[SPARSE], 2)) for way, count in counts.items()]
        return Table(("robot", "method", "order", "factors", "times"), tuple(rows))


STUDY = Study(
    "factors of the KKT matrix, sparse and dense",
    "proximal slides (RSS 2021)",
    lambda quick, executor: Factored(ROBOTS)(quick),
    Bars(bar="method", tiers=("factors",), unit="operations of the factors, M and J given"),
    "The talk shows times. Cassie's linkages are clusters of the tree here, and constraints there.",
)
