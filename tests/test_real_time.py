"""What real-time programs need of the C: it asks for no memory, calls no system, and takes always the same time."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from compilers import COMPILERS, WARNINGS, compiled, output

import codegen

CONFINED = r"""
/* After `prctl` Linux kills this process for every call but read, write and exit of a thread. */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "arm.h"

int main(int argc, char **argv)
{
    double q[ARM_NQ], v[ARM_NV], f[ARM_NV], a[ARM_NV], lam[3], status[1], M[ARM_NV*ARM_NV];
    (void)argv;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) return 77;
    for (int k = 0; k < 100; ++k) {
        for (int j = 0; j < ARM_NV; ++j) {
            q[j] = k*j*0.01 + (k % 10 ? 0 : 1e6); /* the C library's sine, too */
            v[j] = k - j;
            f[j] = k*0.1;
        }
        arm_aba(q, v, f, a);
        arm_rnea(q, v, a, f);
        arm_crba(q, M);
        (void)arm_pv(q, v, f, a, lam, status);
    }
    if (write(1, "done\n", 5) != 5) return 1;
    if (argc > 1) (void)getpid(); /* is killed */
    syscall(SYS_exit, 0);
}
"""


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, robot = tmp_path_factory.mktemp("arm"), codegen.load("iiwa")
    contacts = [f"{robot.tips[0]}:3"]
    codegen.generate(robot, ("rnea", "aba", "crba", "pv"), folder, prefix="arm", contacts=contacts)
    return folder


@pytest.mark.skipif(platform.system() != "Linux", reason="seccomp is Linux's")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_process_that_may_call_nothing_calls_them(arm: Path, compiler: str) -> None:
    (arm / "confined.c").write_text(CONFINED)
    sources = [path.name for path in sorted(arm.glob("arm_*.c"))]
    compiled(compiler, arm, "-O2", "-march=native", "confined.c", *sources, "-lm", "-o", f"confined_{compiler}")
    program = str(arm / f"confined_{compiler}")
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("seccomp is not available here")
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert subprocess.run([program, "more"], capture_output=True, check=False).returncode == -9


@pytest.mark.skipif(not shutil.which("nm"), reason="there is no nm")
def test_functions_call_the_mathematical_library_and_nothing_else(arm: Path) -> None:
    """No memory is asked for, and no system is called."""
    sources = [path.name for path in sorted(arm.glob("arm_*.c"))]
    compiled(COMPILERS[0], arm, "-O2", "-c", *sources)
    for path in arm.glob("arm_*.o"):
        said = subprocess.run(["nm", "-u", str(path)], capture_output=True, text=True, check=True).stdout
        assert {line.split()[-1] for line in said.splitlines()} <= {"sin", "cos", "memcpy", "memset"}


@pytest.mark.thorough
def test_times_of_calls(arm: Path) -> None:
    """The program of the guide's table; that the median is near the shortest is what the guide claims."""
    sizes = "#define NQ 7\n#define NV 7\n"
    (arm / "latency.h").write_text(f'#include "arm.h"\n{sizes}#define FUNCTION arm_aba(q, v, f, out)\n')
    sources = [str(Path(__file__).with_name("latency_program.c")), "-I.", "arm_aba.c", "-lm"]
    compiled(COMPILERS[0], arm, "-O2", *WARNINGS, *sources, "-o", "latency")
    least, median, *most = map(float, output(arm / "latency").split())
    assert 0 < least <= median < 100 * least + 1000
    assert most[0] <= most[1]
