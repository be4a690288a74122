"""Arrays of other libraries, which only speak `__dlpack__`, as arguments and as places for results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from graph_cases import header, kernel, pendulum, pendulum_by_hand

import codegen
from codegen import passes
from codegen.arrays import array_of
from codegen.compilation.compiler import compile_extension, toolchain
from codegen.compilation.runtime import Function, load
from codegen.emission.emit import Style, emit_artifact

if TYPE_CHECKING:
    from collections.abc import Callable

Q, V = np.array([0.3, -1.2]), np.array([0.7, 2.0])
M, H = pendulum_by_hand(Q, V)


class Foreign:
    """An array that NumPy cannot read but by `__dlpack__`."""

    def __init__(self, array: Any, device: tuple[int, int] = (1, 0)) -> None:
        self.array, self.device = np.asarray(array), device

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class Old(Foreign):
    """One of DLPack before 1.0, which says nothing of writing: NumPy takes it to be read only."""

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__()


class Undeclared:
    """One of a type that DLPack or NumPy does not know."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("no such type")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Function:
    folder = tmp_path_factory.mktemp("arm")
    artifact = emit_artifact(header(), kernel(passes.run(pendulum())), Style("float64", lanes=4))
    artifact, extension = compile_extension([artifact], folder, toolchain())
    return load(artifact, folder / extension)


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f(Foreign(Q), Foreign(V)),
        lambda f: f(Q, v=Old(V)),
        lambda f: f(Foreign(np.repeat(Q, 2)[::2]), list(V)),
        lambda f: f(Foreign(Q), V, threads=2),
    ],
    ids=["both", "old", "strides", "threads"],
)
def test_foreign_arrays_are_arguments(arm: Function, call: Callable[[Function], Any]) -> None:
    np.testing.assert_array_equal(call(arm).h, arm(Q, V).h)


def test_foreign_batches_and_types(arm: Function) -> None:
    q = np.stack([Q, 2 * Q, Q])
    np.testing.assert_array_equal(arm(Foreign(q), Foreign(V)).h, arm(q, V).h)
    whole = np.array([1, 2])
    for dtype in (np.int64, np.uint8, np.bool_, np.float32):
        np.testing.assert_array_equal(arm(Foreign(whole.astype(dtype)), V).h, arm(whole.astype(dtype), V).h)
    fixed = Q.copy()
    fixed.flags.writeable = False
    np.testing.assert_array_equal(arm(Foreign(fixed), V).h, arm(Q, V).h)


def test_nothing_is_copied() -> None:
    assert np.shares_memory(array_of("q", Foreign(Q)), Q)
    assert array_of("q", Q) is Q


def test_results_go_into_foreign_arrays(arm: Function) -> None:
    if not np.from_dlpack(Foreign(np.zeros(1))).flags.writeable:
        pytest.skip("this NumPy only reads by __dlpack__")
    for lead in ((), (3,)):
        out = Foreign(np.zeros((*lead, 2, 2))), Foreign(np.zeros((*lead, 3)))
        result = arm(np.broadcast_to(Q, (*lead, 2)), V, out=out)
        assert result.M is out[0]
        np.testing.assert_allclose(out[1].array, np.broadcast_to(H, (*lead, 3)), rtol=1e-14)
    memory = np.zeros(6)
    with pytest.raises(ValueError, match="overlap"):
        arm(Q, V, out=(Foreign(memory[:4].reshape(2, 2)), Foreign(memory[3:])))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda f: f(Foreign(Q, (2, 1)), V), TypeError,
         r"q lies on another device than the CPU \(DLPack's type 2, number 1\); copy it to the CPU"),
        (lambda f: f(Undeclared(), V), TypeError, r"NumPy cannot take this Undeclared .* \(no such type\)"),
        (lambda f: f(Foreign(Q * 1j), V), TypeError, "q must be real numbers .* not complex128"),
        (lambda f: f(Foreign(np.zeros(3)), V), ValueError, r"q must be .* not \(3,\)"),
        (lambda f: f(Q, V, out=(np.empty((2, 2)), Foreign(np.empty(3), (2, 0)))), TypeError, "out for h lies on"),
        (lambda f: f(Q, V, out=(np.empty((2, 2)), Foreign(np.empty(3, np.float32)))), TypeError, "not float32"),
        (lambda f: f(Q, V, out=(np.empty((2, 2)), Old(np.empty(3)))), ValueError,
         r"out for h must be writable, aligned and C-contiguous, and shared to be written to \(DLPack 1\.0"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(
    arm: Function, call: Callable[[Function], Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        call(arm)


def test_multipliers_of_contacts_too() -> None:
    robot = codegen.load("iiwa")
    contacts = (robot.contact(robot.tips[0], 3),)
    found = codegen.contact_wrenches(contacts, Foreign(np.arange(3.0)))  # type: ignore[arg-type]
    np.testing.assert_array_equal(found, codegen.contact_wrenches(contacts, np.arange(3.0)))
