"""Plausible faults, put into a copy of the sources one at a time: the quick tests catch every one.

The tests that should catch it run first, then (if they do not) all quick tests; exits with 1 if none catches one.
Words choose faults by what they are; `--whole` runs all quick tests at once.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
LEFT_OUT = (".*cache*", "__pycache__", ".git", ".venv", ".hypothesis", "build", "*.egg-info")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: what it is, the text that it takes from a file, what it puts there, and tests that should notice."""

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def put(self, root: Path) -> None:
        """Put it into the sources below `root`; ValueError unless the text stands there once."""
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.what}: {self.file} has {self.old!r} {text.count(self.old)} times, not once")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


ALGORITHMS = (
    "tests/test_algorithms.py::test_one_joint_alone",
    "tests/test_algorithms.py::test_every_joint_type_off_its_axes",
)

MUTANTS = (
    Mutant(
        "a sign in the turn of an articulated inertia",
        "codegen/spatial/inertia.py",
        "B[i, i], B[j, j] = a - st, d + st\n    B[i, j], B[j, i] = ct - e, ct - b",
        "B[i, i], B[j, j] = a - st, d + st\n    B[i, j], B[j, i] = ct + e, ct - b",
        ALGORITHMS,
    ),
    Mutant(
        "inertia that rests on the world is lost",
        "codegen/lowering/build_tree.py",
        "NodeInertia((found.inertias[-1],))",
        "NodeInertia((type(found.inertias[-1]).none(),))",
        ("tests/test_quantities.py::test_inertia_that_the_root_does_not_feel",),
    ),
    Mutant(
        "centroidal momentum about a centre of mass that does not move",
        "codegen/algorithms/centroidal_derivatives.py",
        "skew3(y[:3]) @ dcom",
        "0 * skew3(y[:3]) @ dcom",
        ("tests/test_quantities.py::test_against_pinocchio",),
    ),
    Mutant(
        "velocities that turn with a displaced joint count once",
        "codegen/recursions/frame_changes.py",
        "carried - 2 * W @",
        "carried - W @",
        ("tests/test_quantities.py::test_against_pinocchio",),
    ),
    Mutant(
        "columns that rounding makes count for base parameters",
        "codegen/identification.py",
        "size[size < NOTHING * size.max()] = 1.0",
        "size[size == 0.0] = 1.0",
        ("tests/test_quantities.py::test_base_parameters",),
    ),
    Mutant(
        "ABA without armature",
        "codegen/algorithms/aba.py",
        "articulated_joint(IA[i], S[i], tree.armature[i])",
        "articulated_joint(IA[i], S[i], 0 * tree.armature[i])",
        ALGORITHMS,
    ),
    Mutant(
        "a contact's angular and linear rows swapped",
        "codegen/recursions/motion.py",
        "seen = vertcat(contact.on_body.axes.vector(at.wdot), contact.on_body.axes.vector(linear))",
        "seen = vertcat(contact.on_body.axes.vector(linear), contact.on_body.axes.vector(at.wdot))",
        ("tests/constrained/test_scenarios.py",),
    ),
    Mutant(
        "external wrenches added where they are taken off",
        "codegen/recursions/motion.py",
        "[f - g for f, g in zip(needed, external, strict=True)]",
        "[f + g for f, g in zip(needed, external, strict=True)]",
        ("tests/test_algorithms.py::test_external_wrenches",),
    ),
    Mutant(
        "half of the Coriolis acceleration of sliding joints",
        "codegen/recursions/motion.py",
        "coriolis = 2 * cross3(carried, S[3:, :] @ v)",
        "coriolis = cross3(carried, S[3:, :] @ v)",
        ALGORITHMS,
    ),
    Mutant(
        "x - (-y) rewritten to x - y",
        "codegen/passes/constants.py",
        'if positive is not None:\n        return make(draft, "add", a, positive)',
        'if positive is not None:\n        return make(draft, "sub", a, positive)',
        ("tests/passes",),
    ),
    Mutant(
        "members of a pack that are subtracted the wrong way round",
        "codegen/packing/aligned.py",
        "both = zip(second, first, strict=True) if negative and not turned",
        "both = zip(first, second, strict=True) if negative and not turned",
        ("tests/test_packing.py",),
    ),
    Mutant(
        "two elements of a gathered vector swapped",
        "codegen/emission/statements.py",
        'listed = ", ".join(map(self._single, members))',
        'listed = ", ".join(map(self._single, (*members[1::-1], *members[2:])))',
        ("tests/test_packing.py",),
    ),
    Mutant(
        "the lane after the last state",
        "templates/lanes.c.jinja",
        "{{ PREFIX }}_LEAST(k, count - 1);\n            single",
        "{{ PREFIX }}_LEAST(k + 1, count - 1);\n            single",
        ("tests/test_lanes.py",),
    ),
    Mutant(
        "a line of memory of the wrong elements of two squares",
        "templates/lanes.c.jinja",
        "const PLACES places{{ k }} = counted + next{{ k }};",
        "const PLACES places{{ k }} = counted + next{{ k }}%{{ lanes }};",
        ("tests/test_lanes.py",),
    ),
    Mutant(
        "a square that the last one overlaps is empty",
        "codegen/emission/result_places.py",
        "both if left and first >= (last - 1) * lanes else bool(zero[first : first + lanes].all())",
        "bool(zero[first : first + lanes].all())",
        ("tests/test_lanes.py",),
    ),
    Mutant(
        "a slot of the workspace given away before its value is read",
        "codegen/emission/layout.py",
        "leaving.setdefault(last[first] + 1, []).append(unit)",
        "leaving.setdefault(last[first], []).append(unit)",
        ("tests/test_cuts.py",),
    ),
    Mutant(
        "loops that drift: the velocity products of a dependent joint with the wrong sign",
        "codegen/recursions/tree.py",
        "own.G @ a_i + own.g(v_i)",
        "own.G @ a_i - own.g(v_i)",
        ("tests/loops/test_random_mechanisms.py", "tests/loops/test_reference.py"),
    ),
    Mutant(
        "MuJoCo's quaternions read in Pinocchio's order",
        "codegen/joints/floating.py",
        "return quaternion.matrix(quaternion.xyzw(q[3:], self.convention))",
        "return quaternion.matrix(q[3:])",
        ALGORITHMS,
    ),
    Mutant(
        "the parallel-axis theorem with the wrong sign",
        "codegen/geometry.py",
        "return np.array(self.moment) + self.mass * times(c, c.T)",
        "return np.array(self.moment) - self.mass * times(c, c.T)",
        ("tests/description", "tests/test_against_pinocchio.py"),
    ),
    Mutant(
        "products of inertia swapped by the reader of URDF",
        "codegen/description/urdf.py",
        'for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")',
        'for k in ("ixx", "ixz", "ixy", "iyy", "iyz", "izz")',
        ("tests/description", "tests/test_against_pinocchio.py"),
    ),
    Mutant(
        "a mimic of a mimic without its offset",
        "codegen/description/urdf_loops.py",
        "offset + factor * next_offset",
        "offset",
        ("tests/description",),
    ),
    Mutant(
        "a status that is never told",
        "codegen/tracing/status.py",
        "if not tests:\n        return graph",
        "if tests:\n        return graph",
        ("tests/test_status.py",),
    ),
    Mutant(
        "one iteration too few around the loop",
        "templates/loop.jinja",
        "used_[lane_] = 1;",
        "used_[lane_] = 2;",
        ("tests/test_iterating.py",),
    ),
    Mutant(
        "one iteration too few around the portable loop",
        "templates/portable_loop.jinja",
        "int used_ = 1;",
        "int used_ = 2;",
        ("tests/test_portable.py",),
    ),
    Mutant(
        "floats with six digits",
        "codegen/languages/c_scalar.py",
        "rounded = np.dtype(self.dtype).type(number)",
        'rounded = np.dtype(self.dtype).type(f"{number:.6g}" if self.suffix else number)',
        ("tests/test_emit.py",),
    ),
    Mutant(
        "builds of other compiler flags taken from the cache",
        "codegen/compilation/compiler.py",
        'return f"{compiler} {status.st_size} {status.st_mtime_ns} | {self} | {suffix} | {sys.platform} | {cpu}"',
        'return f"{compiler} {status.st_size} {status.st_mtime_ns} | {suffix} | {sys.platform} | {cpu}"',
        ("tests/test_cache.py", "tests/test_compiler.py"),
    ),
    Mutant(
        "a proximal step of half the length",
        "codegen/algorithms/constrained_aba.py",
        "push = mu * (s - contact_accelerations(tree, a))",
        "push = 0.5 * mu * (s - contact_accelerations(tree, a))",
        ("tests/constrained/test_scenarios.py",),
    ),
    Mutant(
        "a Runge-Kutta method that adds rates of stages whose tangents differ",
        "codegen/algorithms/rk4.py",
        "dexpinv(q=q, dv=c * dt * rate, v=velocity)[0]",
        "velocity",
        ("tests/test_steps.py::test_orders",),
    ),
    Mutant(
        "derivatives of the midpoint without how it moves with the start",
        "codegen/algorithms/implicit_midpoint.py",
        "combined([(Q, -dt * by_q)])",
        "combined([(Q, -dt * one)])",
        ("tests/test_steps.py::test_joints_that_turn_about_several_axes",),
    ),
)


def run(root: Path, tests: tuple[str, ...] = ()) -> str | None:
    """The first of these tests (of all: on all processors) that are quick to fail in the sources below `root`."""
    command = [sys.executable, "-m", "pytest", "-m", "not thorough", "-x", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(tests or ("-n", "auto", "--dist", "loadgroup"))],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return None
    found = re.search(r"^(?:FAILED|ERROR) (.*?)( - .*)?$", done.stdout, re.MULTILINE)
    return found[1] if found else done.stdout.strip().splitlines()[-1]


def caught(mutant: Mutant | None, *, whole: bool) -> str | None:
    """The test that notices a fault, if one does; of no fault, one that fails anyway."""
    with tempfile.TemporaryDirectory(prefix="rigidc-mutant-") as folder:
        root = Path(folder, "rigidc")
        shutil.copytree(HERE, root, ignore=shutil.ignore_patterns(*LEFT_OUT))
        if mutant is None:
            return run(root, tuple(sorted({test for each in MUTANTS for test in each.tests})))
        mutant.put(root)
        return (None if whole else run(root, mutant.tests)) or run(root)


def main() -> int:
    """Print, for each fault, the test that catches it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only faults whose description holds one of these")
    parser.add_argument("--whole", action="store_true", help="run all quick tests at once")
    parser.add_argument("--sound", action="store_true", help="first see that the tests pass without a fault")
    args = parser.parse_args()
    chosen = [each for each in MUTANTS if not args.words or any(word in each.what for word in args.words)]
    if args.sound and (failing := caught(None, whole=False)):
        print(f"fails without any fault: {failing}")
        return 1
    missed = 0
    for mutant in chosen:
        test = caught(mutant, whole=args.whole)
        missed += test is None
        print(f"{mutant.what}: {test or 'NOT CAUGHT'}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults are caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
