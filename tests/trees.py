"""Trees as algorithms see them, from what their lowering may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen.lowering import LOWERING, Needs, Problem, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from casadi import SX

    from codegen.lowering.problem import ContactModel, Swept
    from codegen.model import Contact, Model
    from codegen.recursions.tree import Tree


def symbolic_tree(
    model: Model,
    q: SX,
    contacts: Sequence[Contact] = (),
    turned: bool = True,
    swept: Swept = "inertias",
    held: ContactModel = "",
    **options: Any,
) -> Tree:
    """The tree of a robot at q; with `turned`, rows of contacts are along the axes that these name."""
    needs = Needs(swept=swept, held=held, contact_axes=not turned)
    problem = Problem(Request(needs, **options), model, q, contacts=tuple(contacts))
    for step in LOWERING:
        problem = problem if step.name == "reduced_problem" else step.run(problem)
    return problem.built
