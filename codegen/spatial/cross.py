"""Featherstone's cross products of a spatial vector with columns of motions and of forces."""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.spatial.axes import skew3


def motion_cross(v: SX, S: SX) -> SX:
    """v x S: motions (6 x c) that are carried along by the motion v."""
    w, linear = skew3(v[:3]), skew3(v[3:])
    return vertcat(w @ S[:3, :], w @ S[3:, :] + linear @ S[:3, :])


def force_cross(S: SX, f: SX) -> SX:
    """S x* f by columns of S: what a force f (6) changes by in a frame that is displaced along motions S (6 x c)."""
    n, force = skew3(f[:3]), skew3(f[3:])
    return -vertcat(n @ S[:3, :] + force @ S[3:, :], force @ S[:3, :])
