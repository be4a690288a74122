"""rigidc check of derivatives: products (--derivative), by arguments (--wrt), sparse, and those that vanish."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from thorough import besides

import codegen
from codegen.__main__ import main
from codegen.cli.check_products import NEAR, Product, argument_error, near, product_error
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from command_line import Run


PRODUCTS = ("jvp", "vjp", "hvp", "hessian", "tensor")


def products(*kinds: str) -> list[str]:
    return [f"--derivative={kind}" for kind in kinds]


@pytest.mark.parametrize(
    ("argv", "kinds"),
    [
        pytest.param(["four_bar", "-a", "rnea", "-n", "2"], PRODUCTS, marks=pytest.mark.thorough),
        (["four_bar", "-a", "integrate", "-n", "2"], ("jvp", "vjp")),
        (["chain:2,alternate,3", "-a", "aba_derivatives", "--sparse", "-n", "2"], ("jvp",)),
        (["chain:3", "-a", "pv", "--contact=link2:x,y", "--dtype", "float32", "-n", "2"], ("vjp",)),
    ],
    ids=lambda value: value[0],
)
def test_products_of_derivatives(rigidc: Run, argv: list[str], kinds: tuple[str, ...]) -> None:
    rows = json.loads(rigidc("check", *argv, *products(*kinds), "--json"))
    assert [row["algorithm"].partition(" ")[2] for row in rows] == ["", *kinds]
    assert all(row["passed"] for row in rows), rows


@pytest.mark.parametrize("kind", besides(["jvp", "hessian"], PRODUCTS))
def test_a_wrong_product_is_found(kind: str) -> None:
    """One entry that is a little off."""
    robot = codegen.load("chain:2,alternate")
    built = codegen.build(robot, "rnea", derivative=kind).with_status()

    class Off(Product):
        def named(self, *arguments: Any) -> dict[str, Any]:
            found = super().named(*arguments)
            name = next(iter(found))
            found[name] = np.array(found[name])
            found[name].flat[0] += 1e-3 * np.abs(found[name]).max()
            return found

    def evaluate(state: Any) -> dict[str, Any]:
        return {"tau": np.asarray(ORACLE["rnea"](robot, *state.values()))}

    rng = np.random.default_rng(0)
    states = [dict(zip("qva", (robot.random(rng)[0], *rng.standard_normal((2, 2))), strict=True)) for _ in range(3)]
    assert product_error(robot, kind, Product(built), states, evaluate, 0) < near("rnea", kind)
    assert product_error(robot, kind, Off(built), states, evaluate, 0) > near("rnea", kind)


def test_products_that_do_not_suit_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "four_bar", "-a", "project", "-n", "2", *products("vjp")]) == 0
    out, err = capsys.readouterr()
    assert "vjp" not in out
    assert "project is left out: project has no vjp" in err


@pytest.mark.parametrize(
    ("argv", "wrt"),
    [
        pytest.param(
            ["chain:3", "-a", "rnea_derivatives,aba"], ("gravity", "inertia:link2"), marks=pytest.mark.thorough
        ),
        (["chain:3", "-a", "prox_pv_derivatives", "--contact=link2:x,y:kp=20", "--sparse"], ("k", "mu", "lam0")),
        (["chain:3", "-a", "aba_derivatives", "--external=link1", "--dtype=float32"], ("f_ext",)),
    ],
    ids=lambda value: "_".join(value[:1]),
)
def test_derivatives_by_arguments(rigidc: Run, argv: list[str], wrt: tuple[str, ...]) -> None:
    """Beside those by the state, where an algorithm gives any."""
    rows = json.loads(rigidc("check", *argv, "-n", "2", *(f"--wrt={spec}" for spec in wrt), "--json"))
    first = argv[2].partition(",")[0]
    assert [row["algorithm"] for row in rows][:2] == [first, f"{first} by {', '.join(wrt)}"]
    assert all(row["passed"] and row["worst error"] > 0 for row in rows), rows


def test_wrong_derivatives_by_arguments_are_found() -> None:
    robot = codegen.load("chain:2,alternate")
    q, v, a = robot.random(1)
    state = {"q": q, "v": v, "a": a, "gravity": np.array([1.0, 2.0, 3.0])}

    def evaluate(state: Any) -> dict[str, Any]:
        given = [state[name] for name in "qva"]
        return {"tau": np.asarray(ORACLE["rnea"](robot, *given, parameters={"gravity": state["gravity"]}))}

    by = codegen.build(robot, "rnea_derivatives", wrt=("gravity",))(*state.values()).dtau_dgravity
    for off, found in ((0.0, False), (1e-4, True)):
        mine = {"dtau_dgravity": by + off * np.eye(2, 3)}
        assert (argument_error(robot, ("gravity",), [mine], [state], evaluate, [{"tau": 1.0}]) > NEAR) is found


def test_derivatives_that_vanish_are_compared_beside_the_rounding_of_the_result() -> None:
    robot, state = codegen.load("chain:2"), {"lam0": np.array([0.3, 0.7])}

    def evaluate(state: Any) -> dict[str, Any]:
        return {"a": 1e3 + 1e-12 * np.sin(1e9 * state["lam0"])}

    for off, found in ((0.0, False), (1e-7, True)):
        mine = {"da_dlam0": np.full((2, 2), off)}
        assert (argument_error(robot, ("lam0",), [mine], [state], evaluate, [{"a": 1e3}]) > NEAR) is found
    assert argument_error(robot, ("lam0",), [{"da_dlam0": np.zeros((2, 2))}], [state], evaluate, [{"a": 1.0}]) > NEAR


@pytest.mark.thorough
def test_derivatives_that_vanish_are_compared_with_others(rigidc: Run) -> None:
    """A four-bar moves at velocities that do not change its acceleration, and with its tip held not at all."""
    argv = ["check", "four_bar", "-a", "aba_derivatives,prox_pv_derivatives", "-n", "3", "--json"]
    assert all(row["passed"] for row in json.loads(rigidc(*argv)))
    rows = json.loads(rigidc("check", "four_bar", "-a", "prox_pv", "-n", "2", *products("jvp"), "--json"))
    assert [(row["algorithm"], row["passed"]) for row in rows] == [("prox_pv", True), ("prox_pv jvp", True)]


@pytest.mark.thorough
def test_states_at_which_differences_do_not_tell_are_left_out(rigidc: Run) -> None:
    """The first ones are too close to singular states."""
    argv = ["check", "six_bar", "-a", "prox_pv_derivatives", "--contact=link5:3", "--contact=link3:3", "-n", "4"]
    assert [row["passed"] for row in json.loads(rigidc(*argv, "--json"))] == [True]


@pytest.mark.parametrize(
    ("algorithm", "words"),
    [("pv_derivatives", "the status of pv_derivatives says"), ("pv_soft_derivatives", "stiff ones leave few digits")],
)
def test_derivatives_of_rows_that_depend_on_each_other(
    capsys: pytest.CaptureFixture[str], algorithm: str, words: str
) -> None:
    assert main(["check", "four_bar", "-a", algorithm, "-n", "2"]) == 2
    assert words in capsys.readouterr().err
