"""rigidc check --derivative and --sparse: products of derivatives against differences of the oracle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import codegen
from codegen.__main__ import main
from codegen.cli.check_products import Product, near, product_error
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from command_line import Run


PRODUCTS = ("jvp", "vjp", "hvp", "hessian", "tensor")


def products(*kinds: str) -> list[str]:
    return [f"--derivative={kind}" for kind in kinds]


@pytest.mark.parametrize(
    ("argv", "kinds"),
    [
        (["four_bar", "-a", "rnea", "-n", "2"], PRODUCTS),
        (["four_bar", "-a", "integrate", "-n", "2"], ("jvp", "vjp")),
        (["chain:2,alternate,3", "-a", "aba_derivatives", "--sparse", "-n", "2"], ("jvp",)),
        (["solo12", "-a", "pv", "--contact=FL_FOOT:3", "--dtype", "float32", "-n", "2"], ("vjp",)),
    ],
    ids=lambda value: value[0],
)
def test_products_of_derivatives(rigidc: Run, argv: list[str], kinds: tuple[str, ...]) -> None:
    rows = json.loads(rigidc("check", *argv, *products(*kinds), "--json"))
    assert [row["algorithm"].partition(" ")[2] for row in rows] == ["", *kinds]
    assert all(row["passed"] for row in rows), rows


@pytest.mark.parametrize("kind", PRODUCTS)
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
