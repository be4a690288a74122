"""ABA-prox-stiff: constrained forward dynamics by the factors of M + mu J'J that articulated inertias give.

The iteration is that of proxLTLs (Sathya and Carpentier 2024, hal-04443056, eq. 16 and 24;
`codegen.algorithms.prox_ltls`): M + mu J'J = L' D L, factorised once, and lam+ = lam + mu (k - J a). Neither the matrix
nor J is formed: the factors are those of `codegen.algorithms.aba_osim`, over links with mu K'K added to them; J a and
J' lam are sweeps, of which the solves with L are part; where its rows end, articulated joints let forces through.
Accelerations are measured from the bias motion (`codegen.lowering.reduced_problem`), of which gravity is part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from casadi import SX

from codegen.algorithms.aba_osim import Factors, factors
from codegen.algorithms.constrained_aba import pushing
from codegen.recursions.iteration import Iteration
from codegen.recursions.reduced_problem import Nodes
from codegen.recursions.sweeps import Articulated, inertia_sweep, stiffened
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def aba_prox_stiff(tree: Tree, p: list[SX], tau: Nodes, s: SX, mu: SX, lam0: SX) -> Iteration:
    """Accelerations of joints and bodies (by nodes) and multipliers (m): M y = tau - S' p + J' lam, J y near s."""
    A = inertia_sweep(tree, stiffened(tree, mu))
    L = factors(tree, A)
    return pushing(tree, p, tau, s, mu, lam0, partial(borne, tree, A, L), partial(followed, tree, A, L))


def borne(
    tree: Tree, A: Articulated, L: Factors, p: Sequence[SX], tau: Mapping[int, SX], nodes: Iterable[int]
) -> Nodes:
    """L'^-1 (tau - S' p) of `nodes` (children first), from bias forces p on the bodies."""
    p, u, yields = list(p), Nodes(), Nodes()
    # leaves to root: the force if all joints were locked, and what those further out yield
    for i in nodes:
        F = p[i] + sum((L[j, i] @ yields[j] for j in u if (j, i) in L), zeros(tree.rows[i]))
        u[i] = tau[i] - tree.S[i].T @ F
        yields[i] = A[i].D.forward(u[i])
        inner = (i, tree.parent[i]) in L
        p[tree.parent[i]] += tree.X[i].force(p[i] if inner else A[i].projected_force(F, A[i].D.solve(u[i]), tau[i]))
    return u


def followed(
    tree: Tree, A: Articulated, L: Factors, u: Nodes, nodes: Iterable[int], a: Nodes | None = None
) -> tuple[Nodes, Nodes]:
    """L^-1 D^-1 u of `nodes` (parents first), and accelerations of the bodies; `a` those known before."""
    y, moved, a = Nodes(), Nodes(), {-1: zeros(6), **(a or {})}
    # root to leaves: where a factor ends, the joint follows its parent body, and those further out all joints up to it
    for i in nodes:
        carried, D, inner = tree.X[i] @ a[tree.parent[i]], A[i].D, [n for n in tree.path(i) if (i, n) in L]
        if inner:
            told = sum((L[i, n].T @ moved[n] for n in inner), zeros(tree.S[i].size))
            y[i] = D.backward(D.scale(D.forward(u[i])) - told)
            moved[i] = tree.S[i] @ y[i]
            a[i] = carried + moved[i]
        else:
            y[i], a[i] = A[i].motion(carried, u[i])
            moved[i] = a[i]
    return y, a
