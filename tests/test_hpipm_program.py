"""A and B of steps in HPIPM's C interface: a step of an SQP method against CasADi's active-set solver.

CasADi's wheel brings HPIPM and BLASFEO, with their headers.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from compilers import compiled as run
from mechanisms_cases import mechanism

import codegen

WHEEL = Path(ca.__file__).parent
NODES, DT, MOST = 8, 0.02, 0.2  # as in hpipm_program.c

installed = pytest.mark.skipif(
    not all((WHEEL / name).is_file() for name in ("include/hpipm_d_ocp_qp.h", "libhpipm.so", "libblasfeo.so")),
    reason="this CasADi brings no HPIPM: casadi>=3.8 from PyPI",
)


def solved(robot, q: np.ndarray) -> np.ndarray:
    """The controls of the program's problem (NODES x nv)."""
    step, slopes = codegen.build(robot, "step"), codegen.build(robot, "step_derivatives")
    v, tau, opti = np.zeros(robot.nv), np.zeros(robot.nv), ca.Opti("conic")
    dx, du = opti.variable(2 * robot.nv, NODES + 1), opti.variable(robot.nv, NODES)
    opti.minimize(5 * ca.sumsqr(dx - 0.1) + ca.sumsqr(du) / 2)
    opti.subject_to(dx[:, 0] == 0)
    for k in range(NODES):
        A, B = slopes(q, v, tau, DT)
        opti.subject_to(dx[:, k + 1] == ca.DM(A) @ dx[:, k] + ca.DM(B) @ du[:, k])
        q, v = step(q, v, tau, DT)
    opti.subject_to(opti.bounded(-MOST, ca.vec(du), MOST))
    opti.solver("qrqp", {"print_iter": False, "print_header": False, "print_info": False, "print_time": False})
    return np.array(opti.solve().value(du)).T


@installed
def test_a_step_of_sqp(tmp_path):
    """On tangents of a robot with a ball joint, and with bounds that are active."""
    robot = mechanism(("spherical", "revolute"), 3, convention="pinocchio")
    codegen.generate(robot, ("step", "step_derivatives"), tmp_path, prefix="my")
    program = str(Path(__file__).with_name("hpipm_program.c"))
    sources = [str(path) for path in tmp_path.glob("my_*.c")]
    linked = [f"-L{WHEEL}", "-l:libhpipm.so", "-l:libblasfeo.so", f"-Wl,-rpath,{WHEEL},-rpath-link,{WHEEL}", "-lm"]
    run("cc", tmp_path, "-O1", "-I.", f"-isystem{WHEEL / 'include'}", program, *sources, *linked, "-o", "program")
    q = robot.random(1)[0]
    command = [str(tmp_path / "program"), *(repr(float(x)) for x in q)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, wanted = np.array(done.stdout.split(), float).reshape(NODES, robot.nv), solved(robot, q)
    assert np.abs(wanted).max() > MOST - 1e-9
    assert np.abs(found - wanted).max() < 1e-6
