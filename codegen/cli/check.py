"""Check compiled C against dense NumPy on random states.

Every chosen algorithm is generated, compiled and called on random valid states, and compared
with a dense oracle that shares no mathematics with it. The error of an output is its largest
deviation over its largest entry, state by state (a vanishing output counts absolutely); of
accelerations that contacts take away, over those without the contacts; of derivatives that vanish,
over the others. Where the joint-space inertia matrix has a condition beyond 1e6, errors of forward
dynamics are divided by its excess.
Exit code 1 if any error exceeds the tolerance.

Without a choice of algorithms all common ones are checked, and for a robot with loops those for
loops and the Delassus matrices too; what does not suit a robot is left out, with a line on stderr.

Algorithms with contacts are compared with the least-squares solution at regular states: those at
which no row is almost, but not quite, dependent on the others. Where rows are redundant, their
multipliers are not unique and not compared.

With --derivative also products of derivatives are compared, and with --wrt derivatives by further
arguments, with differences of the oracle.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from codegen.cli.answers import arrays, expected_at
from codegen.cli.check_products import NEAR, Product, argument_error, dense, near, product_error, untold
from codegen.cli.options import add_algorithms, add_build, add_derivatives, add_formats, add_robot, add_wrt, at_least
from codegen.cli.requests import algorithms, build_options, load, resolved, unless_unsuited
from codegen.cli.table import Cell, Table, shown_if_ended
from codegen.errors import RobotError, UnsuitedError, UntoldError
from codegen.model.contacts import whole_tips
from codegen.progress import doing, each
from codegen.task.options import wrt_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from codegen.compilation.runtime import Function
    from codegen.model import Contact
    from codegen.robot import Robot

EXAMPLES = """\
  rigidc check talos
  rigidc check talos --contact left_sole_link:6 --contact right_sole_link:6 --group constrained
  rigidc check go1 -a aba,aba_derivatives --derivative jvp --derivative vjp --sparse -n 20
"""

HEADER = ("robot", "algorithm", "states", "worst error", "tolerance", "passed")
BY = "by"  # the kind of check of derivatives by further arguments
STEPS, TRIES = 5, 20  # proximal steps, and candidates for every regular state
TAKEN = 1e-6  # below this part of what there was without contacts, these take accelerations away
DEPENDENT = {  # by what has to be independent
    "rows": "rows of the contacts depend on each other, and the status of {} says that some are left out; hold fewer "
    "rows, or take a proximal or damped algorithm",
    "rows of limbs": "each limb must be able to follow its own rows while the root (a floating base, or the first "
    "joint) rests, so that its block of W is regular, and the status of {} says that one is not; hold fewer rows, or "
    "take caba_osim_swept",
}
STIFF = (
    "rows of the contacts depend on each other, and stiff ones leave few digits of {}; hold fewer rows, or give softer "
    "ones by the argument R (--parameter R)"
)
CONDITION = 1e6  # of M, with which rounding errors of what is solved with it grow
SOLVED = {"a", "Minv", "da_dtau", "v_next", "A"}  # results that algorithms solve for with M
NEGLIGIBLE = 1e-12  # an output whose entries all stay below this is held to the tolerance absolutely


def configure(parser: argparse.ArgumentParser) -> None:
    """Robots, algorithms, states, seed, build options, --json."""
    add_robot(parser, several=True)
    add_algorithms(parser)
    parser.add_argument(
        "-n", "--states", type=at_least(1), default=100, metavar="N", help="number of random states (100)"
    )
    parser.add_argument("--seed", type=at_least(0), default=0, help="seed of the random states (0)")
    parser.add_argument("--sparse", action="store_true", help="build functions that give matrices as their nonzeros")
    add_derivatives(parser)
    add_wrt(parser)
    add_build(parser)
    add_formats(parser)


def run(args: argparse.Namespace) -> int:
    """Print the worst error of every algorithm; 1 if one is too large."""
    from codegen.algorithms import ALGORITHMS

    algorithms(args)  # names are checked before robots are loaded
    models = {robot: load(args, robot) for robot in args.robots}
    steps = args.iterations or STEPS
    chosen = {key: resolved(args, algorithms(args, model), model, iterations=steps) for key, model in models.items()}
    by = {name: wrt_of(name, names, args.wrt) for names in chosen.values() for name in names}
    work = [(robot, *one) for robot in args.robots for one in _kinds(chosen[robot], args.derivatives, by)]
    rows: list[tuple[Cell, ...]] = []
    with shown_if_ended(HEADER, rows, args.form):
        for robot, name, kind in each(work, lambda one: f"{' '.join(one[1:]).strip()} of {models[one[0]].name}"):
            allowed = max(ALGORITHMS[name].tolerance.of(args.dtype), _told(name, kind))
            options = {**build_options(args, name), "iterations": steps, "sparse": args.sparse}
            if kind == BY:
                options["wrt"] = by[name]
            measure = partial(_measured, models[robot], name, kind, args.states, args.seed, options)
            error = unless_unsuited(args, name, measure, beside=bool(kind))
            if error is not None:
                title = " ".join((name, *(("by", ", ".join(by[name])) if kind == BY else (kind,)))).strip()
                rows.append((models[robot].name, title, args.states, error, allowed, error <= allowed))
    table = Table(HEADER, tuple(rows))
    sys.stdout.write(table.json() if args.form else table.text())
    return 0 if all(passed for *_, passed in rows) else 1


def _kinds(names: Sequence[str], products: Sequence[str], by: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Every algorithm itself, the products of its derivatives, and its derivatives by further arguments if any."""
    return [(name, kind) for name in names for kind in ("", *products, *((BY,) if by[name] else ()))]


def _told(name: str, kind: str) -> float:
    """How near differences come to what is checked, if these tell it."""
    return NEAR if kind == BY else near(name, kind) if kind else 0.0


def _measured(robot: Robot, name: str, kind: str, states: int, seed: int, options: dict[str, Any]) -> float:
    """`worst_error`, or that of a product; UnsuitedError where the oracle finds no answer."""
    import numpy as np

    try:
        if kind == BY:
            return worst_error_by_arguments(robot, name, states, seed, options)
        if kind:
            return worst_product_error(robot, name, kind, states, seed, options)
        return worst_error(robot, name, states, seed, options)
    except np.linalg.LinAlgError:
        raise UnsuitedError(
            f"{robot.name}: the oracle cannot check {name}, as a matrix is singular; where a joint meets no inertia, "
            "give what it moves mass"
        ) from None


def worst_error(robot: Robot, name: str, states: int, seed: int, options: dict[str, Any]) -> float:
    """The largest relative error of a compiled algorithm over `states` random states; infinite for a NaN.

    UnsuitedError if an algorithm on contacts is off where its status says that it left out dependent rows.
    """
    import numpy as np

    from codegen import api
    from codegen.algorithms import ALGORITHMS, BEHIND
    from codegen.model import contacts

    entry, function = ALGORITHMS[name], api.build(robot, name, **options).with_status()
    held = tuple(contacts.contact_of(robot, text) for text in options["contacts"] or ()) or None
    with doing("drawing states"):
        inputs, values, ranks = draw(robot, function, name, {**options, "contacts": held}, states, seed)
    values = tuple(value.astype(options["dtype"]) for value in values)
    given = {"frames": options["frames"], "external": options["external"], "contacts": held}
    found = dense(function, function(*values)) if options.get("sparse") else arrays(function(*values))
    usual = _usual(robot, name, options["dtype"])
    aside = (*options["parameters"], *BEHIND)
    worst, allowed, told = 0.0, entry.tolerance.of(options["dtype"]), 0
    for k, unique in each(tuple(enumerate(ranks)), lambda _: "states checked"):
        state = dict(zip(inputs, (value[k].astype(float) for value in values), strict=True))
        parameters = {**usual, **{spec: state.pop(spec) for spec in aside if spec in state}}
        try:
            expected = expected_at(robot, name, state, given, parameters)
        except UntoldError:
            continue
        told += 1
        scales = _scales(robot, name, state, expected, given, parameters)
        for result, ours, theirs, scale in zip(entry.outputs, found, expected, scales, strict=False):
            if not unique and result.startswith(("lam", "dlam")):
                continue
            error = relative_error(ours[k], np.asarray(theirs), scale)
            if error > allowed and _left_out(name, found[len(expected) :], k):
                raise UnsuitedError(f"{robot.name}: {DEPENDENT[entry.independent or 'rows'].format(name)}")
            if error > allowed and _stiff(robot, name, state, held):
                raise UnsuitedError(f"{robot.name}: {STIFF.format(name)}")
            worst = max(worst, error if error <= allowed else error / _excess(robot, name, state, parameters))
    return worst if told else untold(robot)


def worst_product_error(robot: Robot, name: str, kind: str, states: int, seed: int, options: dict[str, Any]) -> float:
    """The same of a product of its derivatives: `kind` is jvp, vjp, hvp, hessian or tensor."""
    from codegen import api

    function = api.build(robot, name, **options, derivative=kind)
    drawn, evaluate = _drawn(robot, name, api.build(robot, name, **options), states, seed, options)
    sizes = [_sizes(robot, name, state, evaluate(state), options) for state in drawn]
    return product_error(robot, kind, Product(function.with_status()), drawn, evaluate, seed, sizes)


def worst_error_by_arguments(robot: Robot, name: str, states: int, seed: int, options: dict[str, Any]) -> float:
    """The same of derivatives by the arguments that `wrt` of the options names, which become arguments."""
    from codegen import api

    own = {option: value for option, value in options.items() if option != "trig"}
    options = {**options, "parameters": api.task(robot, name, **own).parameters}
    function = api.build(robot, name, **options).with_status()
    drawn, evaluate = _drawn(robot, name, function, states, seed, options)
    found = [Product(function).named(*state.values()) for state in drawn]
    sizes = [_sizes(robot, name, state, evaluate(state), options) for state in drawn]
    return argument_error(robot, options["wrt"], found, drawn, evaluate, sizes)


def _sizes(
    robot: Robot, name: str, state: dict[str, Any], results: Mapping[str, NDArray[np.float64]], options: dict[str, Any]
) -> dict[str, float]:
    """What the rounding of results is a part of: their own size, and that of accelerations before contacts."""
    import numpy as np

    from codegen.algorithms import ALGORITHMS

    parameters = {spec: state[spec] for spec in options["parameters"] if spec in state}
    held = "k" in ALGORITHMS[name].inputs
    free = {"a": _unheld(robot, state, {"external": options["external"]}, parameters)} if held else {}
    return {result: max(1.0, float(np.abs(x).max(initial=0.0)), free.get(result, 0.0)) for result, x in results.items()}


def _drawn(
    robot: Robot, name: str, function: Function, states: int, seed: int, options: dict[str, Any]
) -> tuple[list[dict[str, NDArray[np.float64]]], Callable[..., dict[str, NDArray[np.float64]]]]:
    """Random states, and what the oracle finds for those results that count: with `wrt` of what is differentiated."""
    from codegen.algorithms import ALGORITHMS, BEHIND
    from codegen.model import contacts

    held = tuple(contacts.contact_of(robot, text) for text in options["contacts"] or ()) or None
    with doing("drawing states"):
        inputs, values, ranks = draw(robot, function, name, {**options, "contacts": held}, states, seed)
    given = {"frames": options["frames"], "external": options["external"], "contacts": held}
    usual, aside = _usual(robot, name, options["dtype"]), (*options["parameters"], *BEHIND)
    differentiated = ALGORITHMS[name].differentiates if options.get("wrt") else ()
    of = name.removesuffix("_derivatives") if differentiated else name
    results = differentiated or ALGORITHMS[name].outputs
    counted = [result for result in results if all(ranks) or not result.startswith(("lam", "dlam"))]

    def evaluate(state: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        own = {spec: x for spec, x in state.items() if spec not in aside}
        parameters = {**usual, **{spec: state[spec] for spec in aside if spec in state}}
        found = zip(ALGORITHMS[of].outputs, expected_at(robot, of, own, given, parameters), strict=False)
        return {result: x for result, x in found if result in counted}

    rounded = [value.astype(options["dtype"]).astype(float) for value in values]  # as the function takes them
    return [dict(zip(inputs, (value[k] for value in rounded), strict=True)) for k in range(states)], evaluate


def _usual(robot: Robot, name: str, dtype: str) -> dict[str, Any]:
    """The usual values of the optional inputs that an algorithm has."""
    from codegen.algorithms import ALGORITHMS, optional

    return {spec: x for spec, x in optional(robot, dtype).items() if spec in ALGORITHMS[name].inputs}


def _left_out(name: str, status: Sequence[NDArray[np.float64]], k: int) -> bool:
    """Whether the status of an algorithm on contacts, if it has one, says that it left out rows at state k."""
    from codegen.algorithms import ALGORITHMS

    entry = ALGORITHMS[name]
    return ("k" in entry.inputs or entry.group == "damped") and bool(status) and bool(status[-1][k] != 0)


def _stiff(robot: Robot, name: str, state: dict[str, Any], held: Sequence[Contact] | None) -> bool:
    """Whether derivatives are of soft rows that depend on each other at a state."""
    from codegen.algorithms import ALGORITHMS
    from codegen.oracle import constrained

    if "R" not in ALGORITHMS[name].inputs or ALGORITHMS[name].group == "constrained":
        return False
    at = constrained.equations(robot, state["q"], [0.0] * robot.nv, contacts=held or whole_tips(robot))
    return constrained.rank(at)[0] < len(at.J)


def _scales(
    robot: Robot,
    name: str,
    state: dict[str, Any],
    expected: Sequence[NDArray[np.float64]],
    given: dict[str, Any],
    parameters: dict[str, Any],
) -> list[float]:
    """What results are compared with that vanish beside it: the acceleration that contacts take away, if any.

    Of derivatives it is the largest of all of the same result, and how forces accelerate joints without the contacts.
    """
    import numpy as np

    from codegen.algorithms import ALGORITHMS

    entry = ALGORITHMS[name]
    if not name.endswith("_derivatives"):
        held = entry.group in ("constrained", "frictional")
        free = _unheld(robot, state, given, parameters) if held else 0.0
        return [free, *[0.0] * (len(expected) - 1)]
    kinds = ["lam" if result.startswith("dlam") else "" for result in entry.outputs]
    peaks = dict.fromkeys(kinds, 0.0)
    if "da_dtau" in entry.outputs:
        peaks[""] = float(np.abs(expected_at(robot, "minverse", {"q": state["q"]}, {}, _numbers(parameters))[0]).max())
    for kind, x in zip(kinds, expected, strict=True):
        peaks[kind] = max(peaks[kind], float(np.abs(x).max(initial=0.0)))
    return [peaks[kind] for kind in kinds]


def _numbers(parameters: dict[str, Any]) -> dict[str, Any]:
    """Those parameters that are numbers of the robot."""
    from codegen.algorithms import BEHIND, OPTIONAL

    return {spec: value for spec, value in parameters.items() if spec not in {*OPTIONAL, *BEHIND}}


def _excess(robot: Robot, name: str, state: dict[str, Any], parameters: dict[str, Any]) -> float:
    """By how much the condition of M is beyond what an algorithm that solves with M has to bear; at least one."""
    import numpy as np

    from codegen.algorithms import ALGORITHMS
    from codegen.oracle import ORACLE

    if not SOLVED & {*ALGORITHMS[name].outputs} or "a" in ALGORITHMS[name].inputs:
        return 1.0
    M = ORACLE["crba"](robot, state["q"], parameters=_numbers(parameters))
    return max(1.0, float(np.linalg.cond(M)) / CONDITION)


def _unheld(robot: Robot, state: dict[str, Any], given: dict[str, Any], parameters: dict[str, Any]) -> float:
    """The largest joint acceleration that there would be without the contacts."""
    import numpy as np

    from codegen.algorithms import ALGORITHMS
    from codegen.oracle import ORACLE

    inputs = [state[name] for name in ALGORITHMS["aba"].inputs if name in state]
    return float(
        np.abs(ORACLE["aba"](robot, *inputs, external=given["external"], parameters=_numbers(parameters))).max()
    )


def draw(
    robot: Robot, function: Function, name: str, options: dict[str, Any], states: int, seed: int
) -> tuple[tuple[str, ...], tuple[NDArray[np.float64], ...], tuple[bool, ...]]:
    """Names and values of the inputs at random states, and at which of these all outputs are unique.

    Constrained dynamics get regular states; RobotError if there are none.
    """
    from codegen.algorithms import ALGORITHMS
    from codegen.cli.samples import arguments
    from codegen.oracle import constrained

    if "k" not in ALGORITHMS[name].inputs:
        inputs, values = arguments(robot, function, options, states, seed)
        return inputs, values, (True,) * states
    held = options["contacts"] or whole_tips(robot)
    inputs, values = arguments(robot, function, options, TRIES * states, seed)
    kept, unique = [], []
    for n, q in enumerate(values[0]):
        rows, regular = constrained.rank(constrained.equations(robot, q, [0.0] * robot.nv, contacts=held))
        if regular:
            kept.append(n)
            unique.append(rows == sum(len(contact.rows) for contact in held) or "R" in ALGORITHMS[name].inputs)
        if len(kept) == states:
            return inputs, tuple(value[kept] for value in values), tuple(unique)
    raise RobotError(f"{robot.name}: the contacts are almost dependent at nearly all states; hold fewer rows")


def relative_error(found: NDArray[np.float64], expected: NDArray[np.float64], scale: float = 0.0) -> float:
    """Largest deviation over the largest expected entry; over `scale` where all entries are rounding beside that.

    Infinite for a NaN or a wrong shape.
    """
    import numpy as np

    if found.shape != expected.shape or not np.isfinite(found).all():
        return float("inf")
    if not expected.size:
        return 0.0
    peak = float(np.abs(expected).max())
    peak = scale if peak < TAKEN * scale else peak
    return float(np.abs(found - expected).max()) / (peak if peak > NEGLIGIBLE else 1.0)
