"""The header for C++17: what its views take, and what they refuse."""

from __future__ import annotations

import shutil
from pathlib import Path

import casadi
import pytest
from compilers import COMPILERS, WARNINGS, compiled, output
from guide_pages import blocks
from thorough import besides

import codegen

CPLUSPLUS = {"gcc": "g++", "clang": "clang++"}
HERE = [CPLUSPLUS[name] for name in COMPILERS if shutil.which(CPLUSPLUS[name])]
EIGEN = Path(casadi.__file__).parent / "include" / "eigen3"

PROGRAM = r"""
#include <array>
#include <cstdio>
#include <vector>
#include "arm.hpp"

int main()
{
    const double q[] = { 0.3, -0.4 };
    const std::array<double, 2> v = { 1.0, 2.0 };
    const std::vector<double> tau = { 0.5, -0.2 };
    std::array<double, 2> a = {};
    double direct[2], M[2][2], flat[4];
    arm::aba(q, v, tau, a);
    arm_aba(q, v.data(), tau.data(), direct);
    arm::crba(q, arm::view<double, 4, 2>(&M[0][0]));
    arm::crba(arm::view<const double, 2>(tau.data()), flat);
    std::printf("%d %g\n", a[0] == direct[0] && a[1] == direct[1], M[0][1] - M[1][0]);
    std::vector<double> shorter(1);
    try {
        arm::aba(q, v, tau, shorter);
    } catch (const std::length_error &error) {
        std::printf("%s\n", error.what());
    }
}
"""

EIGENS = r"""
#include <cstdio>
#include <Eigen/Core>
#include "arm.hpp"

using Rows = Eigen::Matrix<double, 2, 2, Eigen::RowMajor>;

int main()
{
    Eigen::VectorXd x(4), a(2);
    x << 0.3, -0.4, 1, 2;
    Eigen::Vector2d tau(0.5, -0.2);
    double data[4], direct[2];
    arm::aba(x.head(2), x.tail<2>(), tau, Eigen::Map<Eigen::Vector2d>(data));
    arm_aba(x.data(), x.data() + 2, tau.data(), direct);
    std::printf("%d\n", data[0] == direct[0] && data[1] == direct[1]);
    Rows M;
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> wide(2, 5);
    arm::crba(x.head(2), M);
    std::printf("%d\n", std::abs(M(0, 1) - M(1, 0)) < 1e-12);
    try {
        arm::crba(x.head(2), wide.leftCols(2));
    } catch (const std::invalid_argument &error) {
        std::printf("%s\n", error.what());
    }
    Eigen::Matrix<double, 2, 3> columns;
    try {
        arm::aba(x.head(2), x.tail(2), columns.row(0).head(2), a);
    } catch (const std::invalid_argument &error) {
        std::printf("%s\n", error.what());
    }
}
"""

REFUSED = [
    ("std::array<double, 3> q{}; arm::view<const double, 2> x = q;", "an array of another size"),
    ("Eigen::Matrix2d M; arm::view<double, 4, 2> x = M;", "matrices are row-major"),
    ("Eigen::Matrix2d M; arm::view<double, 4> x = M;", "a matrix in place of a vector"),
    ("const double q[2] = {}; arm::view<double, 2> x = q;", "no viable|conversion"),
    ("double q[3]; arm::view<double, 2> x = q;", "an array of another size"),
    ("float q[2]; arm::view<double, 2> x = q;", "no viable|conversion"),
]
APART = "elements do not lie one after the other"


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two joints, and its library."""
    made = tmp_path_factory.mktemp("cplusplus")
    codegen.generate(codegen.load("chain:2"), ("aba", "crba"), made, prefix="arm")
    compiled(COMPILERS[0], made, "-O1", "-shared", "-fPIC", *map(str, made.glob("arm*.c")), "-lm", "-o", "libarm.so")
    return made


def program(compiler: str, folder: Path, text: str, *flags: str) -> Path:
    """A C++ program with the library of a folder."""
    (folder / "program.cpp").write_text(text)
    usual = ["-std=c++17", "-I.", "program.cpp", "-L.", "-larm", f"-Wl,-rpath,{folder}", "-o", "program"]
    compiled(compiler, folder, *flags, *usual)
    return folder / "program"


@pytest.mark.skipif(not HERE, reason="there is no C++ compiler")
@pytest.mark.parametrize("compiler", HERE)
def test_views_of_arrays(arm: Path, compiler: str) -> None:
    said = output(program(compiler, arm, PROGRAM, *WARNINGS)).splitlines()
    assert said == ["1 0", "2 elements are needed, not 1"]


@pytest.mark.skipif(not HERE or not EIGEN.is_dir(), reason="there is no C++ compiler, or CasADi's wheel has no Eigen")
def test_views_of_eigens(arm: Path) -> None:
    said = output(program(HERE[0], arm, EIGENS, "-isystem", str(EIGEN))).splitlines()
    assert said == ["1", "1", APART, APART]


@pytest.mark.skipif(not HERE or not EIGEN.is_dir(), reason="there is no C++ compiler, or CasADi's wheel has no Eigen")
@pytest.mark.parametrize(("given", "said"), besides(REFUSED[:2], REFUSED))
def test_what_the_compiler_refuses(arm: Path, given: str, said: str) -> None:
    text = f'#include <array>\n#include <Eigen/Core>\n#include "arm.hpp"\nint main() {{ {given} (void)x; }}\n'
    with pytest.raises(AssertionError, match=said):
        program(HERE[0], arm, text, "-fsyntax-only", "-isystem", str(EIGEN))


@pytest.mark.skipif(not HERE or not EIGEN.is_dir(), reason="there is no C++ compiler, or CasADi's wheel has no Eigen")
def test_a_status_and_scalars(tmp_path: Path) -> None:
    """A robot with loops, whose step takes a number and returns a status."""
    codegen.generate(codegen.load("four_bar"), ("step",), tmp_path, prefix="bar")
    text = """#include "bar.hpp"
int main()
{
    double q[3] = {}, v[1] = {}, tau[1] = {}, next[3], speed[1];
    return bar::step(q, v, tau, 0.001, next, speed);
}
"""
    (tmp_path / "program.cpp").write_text(text)
    compiled(HERE[0], tmp_path, "-std=c++17", *WARNINGS, "-fsyntax-only", "program.cpp")


@pytest.mark.skipif(not HERE or not EIGEN.is_dir(), reason="there is no C++ compiler, or CasADi's wheel has no Eigen")
def test_the_example_of_the_guide(tmp_path: Path) -> None:
    (block,) = blocks("embedding", "cpp")
    codegen.generate(codegen.load("iiwa"), ("rnea", "crba"), tmp_path)
    (tmp_path / "example.cpp").write_text(block.code)
    compiled(COMPILERS[0], tmp_path, "-O1", "-c", *(path.name for path in tmp_path.glob("iiwa*.c")))
    objects = [path.name for path in tmp_path.glob("*.o")]
    compiled(
        HERE[0], tmp_path, "-std=c++17", *WARNINGS, "-isystem", str(EIGEN), "example.cpp", *objects, "-o", "example"
    )
    assert output(tmp_path / "example") == block.output
