"""All of `make bench-mpc`: functions as optimisers call them, a humanoid's build, nodes, loops, rollouts in JAX.

Some parts need environments of their own: Crocoddyl another Pinocchio than the other benches, acados its own package,
and JAX's peers are many. They run by the Pythons that the variables CROCODDYL_PYTHON, ACADOS_PYTHON and JAX_PYTHON
name, where they have rigidc's requirements and what PARTS says. A part whose variable is not set is left out, and a
line says so.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.progress import note

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
XLA = (
    "--xla_cpu_use_fusion_emitters=false",  # with them MJX takes milliseconds a step: fusions compute again and again
    "--xla_cpu_multi_thread_eigen=false",
    "intra_op_parallelism_threads=1",
)
ALONE = {"OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "XLA_FLAGS": " ".join(XLA)}
"""One thread each."""


@dataclass(frozen=True, slots=True)
class Part:
    """A bench of its own, the variable that names its Python (this one if there is none), and what that has to have."""

    module: str
    python: str = ""
    needs: str = ""

    def __str__(self) -> str:
        return self.module.rpartition(".")[2]


PARTS = {
    "functions": Part("opcount.bench.solvers"),
    "build": Part("opcount.bench.humanoid_build"),
    "nodes": Part("opcount.bench.crocoddyl_nodes", "CROCODDYL_PYTHON", "rigidc[crocoddyl]"),
    "acados": Part("opcount.bench.acados_models", "ACADOS_PYTHON", "rigidc[mpc] acados_template"),
    "loop": Part("opcount.bench.balance_loop", "CROCODDYL_PYTHON", "rigidc[crocoddyl,mpc] mujoco"),
    "rollouts": Part("opcount.bench.jax_rollouts", "JAX_PYTHON", "rigidc[jax] mujoco-mjx brax adam-robotics[jax]"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts; the worst of their codes: 1 if results disagree, 2 if a part cannot run."""
    parser = argparse.ArgumentParser(prog="python -m opcount.bench.mpc", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"(all: {', '.join(PARTS)})")
    asked = parser.parse_args(argv).parts or [*PARTS]
    if unknown := [name for name in asked if name not in PARTS]:
        note(f"bench: there is no part {unknown[0]!r}; choose of {', '.join(PARTS)}")
        return 2
    return max(run(name, PARTS[name]) for name in asked)


def run(name: str, part: Part) -> int:
    """The code of one part, 0 if it is left out."""
    python = os.environ.get(part.python, "") if part.python else sys.executable
    print(f"== {name}", flush=True)
    if not python:
        print(f"left out: {part.python} is not set; it names a Python with {part.needs}\n", flush=True)
        return 0
    try:
        done = subprocess.run([python, "-m", part.module], env={**os.environ, **ALONE, **_places()}, check=False)
    except OSError as error:
        note(f"bench: {part.python}: {error}")
        return 2
    if done.returncode not in (0, 1):
        note(f"bench: {name} did not run by {python}; it needs {part.needs or 'rigidc'}")
    return done.returncode if done.returncode in (0, 1) else 2


def _places() -> dict[str, str]:
    """Where Python finds this repository, and programs the libraries of acados if a variable says where that is."""
    known = {"PYTHONPATH": str(ROOT)}
    if acados := os.environ.get("ACADOS_SOURCE_DIR"):
        known["LD_LIBRARY_PATH"] = str(Path(acados) / "lib")
    return {name: os.pathsep.join([own, *filter(None, [os.environ.get(name)])]) for name, own in known.items()}


if __name__ == "__main__":
    sys.exit(main())
