"""What acados' functions compute: expressions of an ODE, of a step, and of the residual of an implicit ODE.

An implicit ODE is 0 = [qdot - T(q) v; ID(q, v, vdot) - tau] of inverse dynamics, or xdot minus the rates of forward
dynamics. There are no algebraic variables, and no time among its arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import SX, dot, gradient, hessian, jacobian, vertcat

from codegen.tracing.blocks import gradients, joined
from codegen.tracing.expressed import column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.recursions.composition import Parts
    from codegen.tracing.blocks import Block, Blocks
    from codegen.tracing.differentiated import Derivatives
    from codegen.tracing.expressed import Expressions

    Makes = Callable[[Parts], Mapping[str, SX | Block]]
    """What a kernel computes of parts, by names."""

NEXT, MOVED = ("q_next", "v_next"), ("tau", "q", "v")
"""What a step gives, and what it is differentiated by, in acados' order."""


@dataclass(frozen=True, slots=True)
class Dynamics:
    """y (nx) of z = (x, u) and p: rates T v that `own` leaves out, and then its results `rows` of arguments `at`."""

    own: Expressions
    found: Derivatives
    moving: SX
    rows: tuple[int, ...]
    at: tuple[int, ...]

    def __str__(self) -> str:
        return f"y ({self.nx}) of x and u ({len(self.at)}), by {self.own}"

    @property
    def nx(self) -> int:
        """The size of the state."""
        return int(self.moving.size1()) + len(self.rows)

    @property
    def nu(self) -> int:
        """The size of the control."""
        return len(self.at) - self.nx

    @property
    def z(self) -> SX:
        """The state and the control."""
        return self.own.x[list(self.at)]

    @property
    def value(self) -> SX:
        """y (nx)."""
        return vertcat(self.moving, self.own.y[list(self.rows)])

    def jacobian(self) -> SX:
        """dy/dz (nx x n)."""
        return self.first(self.found.jacobian())

    def step(self, parts: Parts) -> SX:
        """y of a step, made of parts."""
        return self.chosen(self.found.value(parts))

    def linearised(self, parts: Parts) -> tuple[SX, Block]:
        """The same, and (dy/dz)' (n x nx), with the rows of u first."""
        y, J = self.found.linearised(parts)
        return self.chosen(y), gradients(J, NEXT, MOVED)

    def adjoint(self, lam: SX) -> SX:
        """(dy/dz)' lam (n)."""
        moved, weights = seeds(self, lam)
        return gradient(moved, self.z) + self.found.adjoint(weights)[list(self.at)]

    def hessian(self, lam: SX) -> SX:
        """The second derivative of lam' y (n x n)."""
        return self.second(self.found.hessian(seeds(self, lam)[1]), lam)

    def curved(self, lam: SX, parts: Parts) -> tuple[SX, Block, Block]:
        """The same, and the second derivative of lam' y, with those by u first."""
        y, J, H = self.found.curved(seeds(self, lam)[1], loops=True, parts=parts)
        return self.chosen(y), gradients(J, NEXT, MOVED), gradients(H, MOVED, MOVED)

    def chosen(self, results: Mapping[str, SX]) -> SX:
        """The rows of a step."""
        return vertcat(column(results.values())[list(self.rows)])

    def first(self, found: Blocks) -> SX:
        """dy/dz of that of `own`."""
        own = joined(found, self.own.outputs, self.own.inputs)
        return vertcat(jacobian(self.moving, self.z), own[list(self.rows), list(self.at)])

    def second(self, found: Blocks, lam: SX) -> SX:
        """The second derivative of lam' y of that of `own`."""
        own = joined(found, self.own.inputs, self.own.inputs)
        return hessian(seeds(self, lam)[0], self.z)[0] + own[list(self.at), list(self.at)]


@dataclass(frozen=True, slots=True)
class Residual:
    """0 = y (nx) of w = (x, xdot, u) by inverse dynamics: `own` takes q, v and a at places `at`, and gives tau.

    `moving` is T v; `qdot` and `force` are the symbols of what inverse dynamics does not take.
    """

    own: Expressions
    found: Derivatives
    moving: SX
    rows: tuple[int, ...]
    at: tuple[int, ...]
    qdot: SX
    force: SX

    def __str__(self) -> str:
        return f"residual ({self.nx}) of x, xdot and u, by {self.own}"

    @property
    def nx(self) -> int:
        """The size of the state."""
        return int(self.moving.size1()) + len(self.rows)

    @property
    def nu(self) -> int:
        """The size of the control."""
        return len(self.rows)

    @property
    def w(self) -> SX:
        """The state, its rate and the control."""
        nx, own = self.nx, self.own.x[list(self.at)]
        return vertcat(own[:nx], self.qdot, own[nx:], self.force)

    @property
    def places(self) -> list[int]:
        """Where q, v and a are in w."""
        nx, nq = self.nx, self.moving.size1()
        return [*range(nx), *range(nx + nq, 2 * nx)]

    @property
    def value(self) -> SX:
        """y (nx)."""
        return vertcat(self.qdot - self.moving, self.own.y[list(self.rows)] - self.force)

    def jacobian(self) -> SX:
        """dy/dw (nx x n)."""
        own, n = joined(self.found.jacobian(), self.own.outputs, self.own.inputs), self.w.size1()
        below = SX(len(self.rows), n)
        below[:, self.places] = own[list(self.rows), list(self.at)]
        below[:, n - self.nu :] = -SX.eye(self.nu)
        return vertcat(jacobian(self.qdot - self.moving, self.w), below)

    def hessian(self, lam: SX) -> SX:
        """The second derivative of lam' y (n x n)."""
        moved, weights = seeds(self, lam)
        found, own = hessian(-moved, self.w)[0], joined(self.found.hessian(weights), self.own.inputs, self.own.inputs)
        found[self.places, self.places] += own[list(self.at), list(self.at)]
        return found


@dataclass(frozen=True, slots=True)
class Function:
    """A function of acados': the order of its derivatives, what it takes and the shapes of what it gives, by C's names.

    The kernel of the name `kernel` (its own, if there is none) `makes` results, of which `loops` make others.
    """

    name: str
    order: int
    takes: str
    gives: dict[str, tuple[int, int]]
    makes: Makes
    kernel: str = ""
    loops: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({self.takes})"


def seeds(f: Dynamics | Residual, lam: SX) -> tuple[SX, SX]:
    """lam' T v, and the weights of all results."""
    weights, split = SX(f.own.y.size1(), 1), f.moving.size1()
    weights[list(f.rows)] = lam[split:]
    return dot(lam[:split], f.moving), weights


def places(parts: Mapping[str, SX], names: Sequence[str]) -> tuple[int, ...]:
    """Where the elements of these parts are in the column of all."""
    ends = dict(zip(parts, accumulate(part.numel() for part in parts.values()), strict=True))
    return tuple(k for name in names for k in range(ends[name] - parts[name].numel(), ends[name]))


def continuous(f: Dynamics, lam: SX) -> list[Function]:
    """Functions of an explicit ODE, and those of the implicit one that loops make of their kernels."""
    nx, nu = f.nx, f.nu
    n = nx + nu
    xdot, adj = {"xdot": (nx, 1)}, {"adj": (n, 1)}
    moved = {"vdeX": (nx, nx), "vdeU": (nx, nu)}

    def value(_: Parts) -> dict[str, SX | Block]:
        return {"xdot": f.value}

    def slopes(_: Parts) -> dict[str, SX | Block]:
        return {"xdot": f.value, "J": f.jacobian()}

    def adjoint(_: Parts) -> dict[str, SX | Block]:
        return {"adj": f.adjoint(lam)}

    def second(parts: Parts) -> dict[str, SX | Block]:
        return {**adjoint(parts), "H": f.hessian(lam)}

    lower = {**adj, "hess": (n * (n + 1) // 2, 1)}
    return [
        Function("expl_ode_fun", 0, "x u p", xdot, value),
        Function("expl_vde_forw", 1, "x Sx Su u p", {**xdot, **moved}, slopes, loops=("forward",)),
        Function("expl_vde_adj", 1, "x lam u p", adj, adjoint),
        Function("expl_ode_hess", 2, "x Sx Su lam u p", lower, second, loops=("congruence",)),
        *implicit(nx, nu, value, slopes, second, by=("expl_ode_fun", "expl_vde_forw", "expl_ode_hess")),
    ]


def residuals(f: Residual, lam: SX) -> list[Function]:
    """Functions of an implicit ODE by inverse dynamics."""
    nx = f.nx
    blocks = {"jac_x": (0, nx), "jac_xdot": (nx, 2 * nx), "jac_u": (2 * nx, 2 * nx + f.nu)}

    def value(_: Parts) -> dict[str, SX | Block]:
        return {"f": f.value}

    def slopes(_: Parts) -> dict[str, SX | Block]:
        whole = f.jacobian()
        return {"f": f.value, **{name: whole[:, start:stop] for name, (start, stop) in blocks.items()}}

    def second(_: Parts) -> dict[str, SX | Block]:
        return {"hess": f.hessian(lam)}

    return implicit(nx, f.nu, value, slopes, second)


def implicit(
    nx: int,
    nu: int,
    value: Makes,
    slopes: Makes,
    second: Makes,
    by: tuple[str, ...] = (),
) -> list[Function]:
    """Functions of an implicit ODE: of three kernels of their own, or of those that these names `by` have."""
    f, jac_z, n = {"f": (nx, 1)}, {"jac_z": (nx, 0)}, 2 * nx + nu
    along, jac_u = {"jac_x": (nx, nx), "jac_xdot": (nx, nx)}, {"jac_u": (nx, nu)}
    takes = "x dx u z t p"
    own = by or ("impl_dae_fun", "impl_dae_fun_jac_x_xdot_u", "impl_dae_hess")
    first = {
        "impl_dae_fun_jac_x_xdot_u": {**f, **along, **jac_u},
        "impl_dae_fun_jac_x_xdot_z": {**f, **along, **jac_z},
        "impl_dae_fun_jac_x_xdot_u_z": {**f, **along, **jac_u, **jac_z},
        "impl_dae_jac_x_xdot_u_z": {**along, **jac_u, **jac_z},
    }

    def loops(gives: dict[str, tuple[int, int]]) -> tuple[str, ...]:
        made = {"f": "residual", "jac_x": "slopes", "hess": "curvature"}
        return tuple(loop for name, loop in made.items() if name in gives) if by else ()

    return [
        Function("impl_dae_fun", 0, takes, f, value, own[0], loops(f)),
        *(Function(name, 1, takes, gives, slopes, own[1], loops(gives)) for name, gives in first.items()),
        Function("impl_dae_hess", 2, "x dx u z lam t p", whole := {"hess": (n, n)}, second, own[2], loops(whole)),
    ]


def discrete(f: Dynamics, lam: SX) -> list[Function]:
    """Functions of discrete dynamics; rows and columns of derivatives are [u; x]."""
    nx, n = f.nx, f.nx + f.nu
    phi, jac, hess = {"phi": (nx, 1)}, {"jac": (n, nx)}, {"hess": (n, n)}

    def value(parts: Parts) -> dict[str, SX | Block]:
        return {"phi": f.step(parts)}

    def first(parts: Parts) -> dict[str, SX | Block]:
        return dict(zip(("phi", "jac"), f.linearised(parts), strict=True))

    def second(parts: Parts) -> dict[str, SX | Block]:
        return dict(zip(("phi", "jac", "hess"), f.curved(lam, parts), strict=True))

    return [
        Function("dyn_disc_phi_fun", 0, "x u p", phi, value),
        Function("dyn_disc_phi_fun_jac", 1, "x u p", {**phi, **jac}, first),
        Function("dyn_disc_phi_fun_jac_hess", 2, "x u lam p", {**phi, **jac, **hess}, second),
    ]
