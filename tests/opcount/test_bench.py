"""The bench: its peers against the oracle, its bookkeeping against numbers known beforehand, and one short run."""

from __future__ import annotations

import ctypes
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.oracle import ORACLE
from opcount.bench import __main__ as bench
from opcount.bench import calls, casadi_peer, ours, pinocchio_peer, roofline
from opcount.bench.build_dir import HERE, Absent, BuildDir, Compiler, compilers, sources_of_batches
from opcount.bench.files import write
from opcount.bench.peers import ALGORITHMS, PEERS, entered
from opcount.bench.race import Contestant, Scenario, disagreement, pinned, scenario, spread, timed
from opcount.bench.report import Report, Result
from opcount.bench.roofline import Core, Size

needs_compiler = pytest.mark.skipif(not compilers(), reason="no C compiler")


def race(robot: str, algorithm: str, states: int = 5) -> Scenario:
    names = {"crba": ("q",), "minverse": ("q",), "rnea": ("q", "v", "a")}.get(algorithm, ("q", "v", "tau"))
    return scenario(codegen.load(robot), algorithm, names, states)


def expected(given: Scenario) -> np.ndarray:
    """One row per state, from the dense oracle."""
    states = zip(*given.inputs, strict=True)
    return np.array([np.ravel(ORACLE[given.algorithm](given.model, *state)) for state in states])


def pretended(label: str, nanoseconds: float, results: np.ndarray | None = None) -> Contestant:
    """A contestant of two states that takes as long as it is told to, by its own word."""
    return Contestant(
        label, lambda rounds: 2 * nanoseconds * rounds, 2, np.ones((2, 3)) if results is None else results
    )


def result(robot: str, times: dict[str, float]) -> Result:
    """Three readings: half a nanosecond less, the time, half a nanosecond more."""
    readings = np.array([[t + shift for t in times.values()] for shift in (-0.5, 0.0, 0.5)])
    sizes = tuple(Size(4000, 300) if label == "rigidc clang" else None for label in times)
    return Result(robot, "aba", 785, tuple(times), readings, sizes)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_casadi_compiles_is_right(algorithm: str) -> None:
    given = race("solo12", algorithm, 2)
    function, _ = casadi_peer.source(given.model, algorithm, (), 3)
    rows = [np.ravel(function(*state).full()) for state in zip(*given.inputs, strict=True)]
    theirs = expected(given)
    assert np.abs(rows - theirs).max() <= 1e-11 * np.abs(theirs).max()


@needs_compiler
@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["rnea", "crba"])
def test_our_part_and_the_casadi_c_agree_with_the_oracle(algorithm: str, tmp_path: Path) -> None:
    given, build_dir = race("iiwa", algorithm, 9), BuildDir(tmp_path)  # nine: a full batch of lanes and one more
    compiler = compilers()[0]
    found = (*ours.contestants(given, compiler, build_dir), *casadi_peer.contestants(given, compiler, build_dir))
    assert len(found) == (9 if algorithm == "crba" else 6)
    truth = Contestant("oracle", lambda _: 0.0, 9, expected(given))
    for contestant in found:
        assert disagreement(contestant, truth) < 1e-11
        assert contestant.run(1) > 0


@needs_compiler
@pytest.mark.thorough
def test_so_do_batches_that_go_state_by_state(tmp_path: Path) -> None:
    """Which call the function of one state."""
    given, build_dir = race("atlas_one_hand", "aba_derivatives", 9), BuildDir(tmp_path)
    found = ours.callables(given, compilers()[0], build_dir)
    truth = Contestant("oracle", lambda _: 0.0, 9, expected(given)[:, : 60 * 60])  # its first result
    for contestant in found:
        assert disagreement(contestant, truth) < 1e-9
        assert contestant.run(1) > 0


def test_batches_are_compiled_with_what_they_call() -> None:
    files = {"arm_f.c": "void arm_f(int x) {}", "arm_f_lanes.c": "void arm_f_aos(void) { /* as arm_f */ }"}
    assert sources_of_batches(files, "arm_f") == ("arm_f_lanes.c",)
    files["arm_f_lanes.c"] = "void arm_f_aos(void) { arm_f(1); }"
    assert sources_of_batches(files, "arm_f") == ("arm_f_lanes.c", "arm_f.c")


COUNTED = """
#include <time.h>
long calls;
void called(const double *x, double *y) { *y = 2.0 * *x; ++calls; }
void batch(size_t n, const double *x, ptrdiff_t i, double *y, ptrdiff_t j, double *work)
{
    for (size_t k = 0; k < n; ++k) called(x + (ptrdiff_t)k * i, y + (ptrdiff_t)k * j);
    work[0] = (double)n;
}
static int by_calls(clockid_t clock, struct timespec *t)
{
    t->tv_sec = (clock == CLOCK_MONOTONIC) * (calls / 1000);
    t->tv_nsec = calls % 1000 * 1000000;
    return 0;
}
#define clock_gettime by_calls
"""


@needs_compiler
@pytest.mark.parametrize("kind", ["plain", "batch"])
def test_what_is_timed_are_the_rounds_asked_for(tmp_path: Path, kind: str) -> None:
    """By a clock on which every call takes a millisecond: five rounds of four states, and one before for nothing."""
    text = "#include <stddef.h>\n" + COUNTED + (HERE / "driver.c").read_text(encoding="utf-8")
    library = ctypes.CDLL(str(BuildDir(tmp_path).shared("driver", [compilers()[0].c, "-O2"], {"driver.c": text})))
    x, y, work = np.arange(8.0), np.zeros(8), np.zeros(1)
    places = (ctypes.c_void_p * 2)(x.ctypes.data, y.ctypes.data)
    steps = (ctypes.c_ssize_t * 2)(2, 1)
    timed = library.time_plain if kind == "plain" else library.time_batch
    timed.restype = ctypes.c_double
    function = library.called if kind == "plain" else library.batch
    extra = () if kind == "plain" else (ctypes.c_void_p(work.ctypes.data),)
    assert timed(function, 2, ctypes.c_size_t(5), ctypes.c_size_t(4), places, steps, *extra) == 20e6
    assert ctypes.c_long.in_dll(library, "calls").value == 24
    assert list(y) == [0.0, 4.0, 8.0, 12.0, 0.0, 0.0, 0.0, 0.0]


def test_a_shared_object_is_made_once_and_its_fault_is_one_sentence(tmp_path: Path) -> None:
    if not compilers():
        pytest.skip("no C compiler")
    build_dir, command = BuildDir(tmp_path), [compilers()[0].c, "-O1"]
    first = build_dir.shared("one", command, {"one.c": "int one(void) { return 1; }\n"})
    before = first.stat().st_mtime_ns
    assert build_dir.shared("one", command, {"one.c": "int one(void) { return 1; }\n"}) == first
    assert first.stat().st_mtime_ns == before
    assert build_dir.shared("one", command, {"one.c": "int one(void) { return 2; }\n"}) != first
    with pytest.raises(Absent, match=r"^broken does not compile with .*error"):
        build_dir.shared("broken", command, {"broken.c": "int one(void) { return }\n"})


def test_the_robot_for_pinocchio_is_all_numbers() -> None:
    model = codegen.load("solo12")
    first, *lines = pinocchio_peer.numbers(model).splitlines()
    assert first == "13 0.0 0.0 -9.81"
    assert len(lines) == 13
    words = lines[4].split()
    body = model.bodies[4]
    assert (int(words[0]), words[1]) == (body.parent + 1, "revolute")
    assert [float(x) for x in words[2:5]] == list(body.joint.axis)
    assert [float(x) for x in words[5:17]] == [*body.placement.R.ravel(), *body.placement.p]
    assert [float(x) for x in words[17:21]] == [body.inertia.mass, *body.inertia.com]
    assert len(words) == 28
    with pytest.raises(Absent, match="closed loops, and four_bar has some"):
        pinocchio_peer.numbers(codegen.load("four_bar"))


def test_pinocchio_reads_those_numbers_as_we_do() -> None:
    pin = pytest.importorskip("pinocchio")
    model = codegen.load("panda")
    peer = pin.Model()
    for k, line in enumerate(pinocchio_peer.numbers(model).splitlines()[1:]):
        parent, kind, *words = line.split()
        x = np.array(words, float)
        joints = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}
        joint = peer.addJoint(int(parent), joints[kind](x[:3]), pin.SE3(x[3:12].reshape(3, 3), x[12:15]), f"joint {k}")
        xx, yy, zz, xy, xz, yz = x[19:25]
        moment = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        peer.appendBodyToJoint(joint, pin.Inertia(x[15], x[16:19], moment), pin.SE3.Identity())
    given = race("panda", "aba")
    theirs = np.array([pin.aba(peer, peer.createData(), *state) for state in zip(*given.inputs, strict=True)])
    assert np.abs(theirs - expected(given)).max() <= 1e-10 * np.abs(theirs).max()


def test_who_is_not_there_is_left_out_with_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(*_: object) -> tuple[Contestant, ...]:
        raise Absent("the peer is not installed")

    present = pretended("rigidc clang", 1.0)
    monkeypatch.setitem(PEERS, "rigidc", lambda *_: (present,))
    monkeypatch.setitem(PEERS, "Pinocchio", missing)
    monkeypatch.setitem(PEERS, "CasADi C", missing)
    tools = [Compiler("clang", "cc", "c++", "1"), Compiler("gcc", "cc", "c++", "1")]
    found, absent = entered(race("iiwa", "crba", 2), tools, BuildDir(tmp_path))
    assert found == [present, present]
    assert absent == ["the peer is not installed"]


def test_a_peer_that_disagrees_is_not_timed() -> None:
    off = np.ones((2, 3))
    off[1, 2] += 2e-9
    reference = pretended("rigidc clang", 1.0)
    assert disagreement(pretended("peer", 1.0, off), reference) == pytest.approx(2e-9, rel=1e-6)
    assert disagreement(pretended("peer", 1.0, off * np.nan), reference) == np.inf
    assert disagreement(pretended("peer", 1.0, np.ones((2, 4))), reference) == np.inf
    given = race("iiwa", "crba", 2)
    entries, wrong = bench.agreeing([("iiwa", given, 1, [reference, pretended("peer", 1.0, off)])])
    assert entries[0][3] == [reference]
    assert wrong == ["crba of iiwa: peer differs from rigidc clang by 2.0e-09: not timed"]


def test_readings_are_per_state_and_turns_are_taken() -> None:
    turns: list[str] = []

    def turn(label: str, nanoseconds: float) -> Contestant:
        def run(rounds: int) -> float:
            turns.append(label)
            return 4 * nanoseconds * rounds

        return Contestant(label, run, 4, np.ones((4, 1)))

    readings = timed([turn("a", 10.0), turn("b", 30.0), turn("c", 50.0)], 0.0)
    assert np.allclose(readings, [[10.0, 30.0, 50.0]])
    assert "".join(turns[3:12]) == "abcbcacab"


def test_spreads_and_ratios_are_those_of_the_readings() -> None:
    assert str(spread(np.arange(101.0))) == "50 (10..90)"
    times = {"rigidc clang": 10.0, "rigidc clang, batch": 2.0, "Pinocchio clang": 80.0, "Pinocchio gcc": 60.0}
    one = result("iiwa", times)
    faster, batch = one.ratio("Pinocchio", "rigidc clang"), one.ratio("Pinocchio", "rigidc clang, batch")
    assert faster
    assert faster.median == 6.0  # the faster of the two builds
    assert faster.p10 == pytest.approx(np.percentile([59.5 / 9.5, 6.0, 60.5 / 10.5], 10))
    assert batch
    assert batch.median == 30.0
    assert one.ratio("CasADi C", "rigidc clang") is None
    assert one.time("CasADi C gcc") is None


def report() -> Report:
    full = {"rigidc clang": 100.0, "Pinocchio clang": 800.0, "CasADi C gcc": 250.0}
    results = (result("iiwa", full), result("four_bar", {"rigidc clang": 100.0}))
    core = Core(clock=4.0, arithmetic=4.0, straight=16.0, cache=2048)
    return Report(results, core, (("machine", "a machine"),), ("four_bar has loops",))


def test_the_report_says_the_same_in_every_form(tmp_path: Path) -> None:
    found = report()
    assert "100 (100..100)" in found.text()
    assert "four_bar has loops" in found.text()
    assert found.ratios().rows == (("iiwa", "aba", "Pinocchio", 8.0), ("iiwa", "aba", "CasADi C", 2.5))
    # 100 ns at 4 GHz are 400 cycles: 4000 bytes are 10 a cycle of 16, 300 instructions 0.75 a cycle of 4
    limit = ("iiwa", "aba", "rigidc clang", 100.0, 400, 4000, 10.0, "62 %", 300, 0.75, "19 %")
    assert found.limits().rows[0] == limit
    assert "| iiwa" in found.markdown()
    content = json.loads(found.json())
    assert content["races"][0]["faster"]["CasADi C"]["rigidc clang"]["median"] == 2.5
    assert content["races"][1]["faster"] == {}
    assert content["notes"] == ["four_bar has loops"]
    said = write(found, tmp_path / "deep" / "folder")
    assert (tmp_path / "deep" / "folder" / "bench.md").read_text() == found.markdown()
    assert "bench.png" in said[-1] or "no figure: matplotlib is not installed" in said[-1]


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from opcount.bench.figure import draw

    draw(report(), tmp_path / "bench.png")
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")


@needs_compiler
def test_the_limits_of_this_core_are_numbers(tmp_path: Path) -> None:
    core = roofline.core(compilers()[0], BuildDir(tmp_path))
    if core is None:
        pytest.skip("no loops for this processor")
    assert all(np.isfinite(x) and x > 0 for x in (core.clock, core.arithmetic, core.straight))
    assert core.cache >= 0


# An addition takes 0.25 ns, and every second reading a hundred times as long: another one has the core.
LOOPS = """
#include <stddef.h>
static double said(double ns, size_t n) { static int k; return (k++ % 2 ? 1.0 : 100.0) * ns * (double)n; }
double chain_64(size_t n) { return said(0.25 * 64, n); }
double fma_48(size_t n) { return said(0.125 * 48, n); }
double mixed_48(size_t n) { return said(0.0625 * 48, n); }
double straight_262144(size_t n) { return said(0.015625 * 262144, n); }
"""


@needs_compiler
def test_the_limits_are_those_of_the_fastest_readings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "roofline.c").write_text(LOOPS, encoding="utf-8")
    monkeypatch.setattr(roofline, "HERE", tmp_path)
    core = roofline.core(compilers()[0], BuildDir(tmp_path / "made"))
    assert core
    assert (core.clock, core.arithmetic, core.straight) == (4.0, 4.0, 16.0)
    (tmp_path / "roofline.c").write_text(LOOPS.replace("0.0625", "0.0"), encoding="utf-8")
    assert roofline.core(compilers()[0], BuildDir(tmp_path / "made")) is None


@needs_compiler
def test_the_size_of_a_kernel_is_that_of_its_code(tmp_path: Path) -> None:
    if not (shutil.which("nm") and shutil.which("objdump")):
        pytest.skip("no binutils")
    text = "void f(const double *x, double *y) { y[0] = x[0]*x[1]; y[1] = x[2]/x[3]; y[2] = x[1] - x[3]; }\n"
    library = BuildDir(tmp_path).shared("f", [compilers()[0].c, "-O1"], {"f.c": text})
    size = roofline.size(Contestant("rigidc", lambda _: 0.0, 1, np.ones((1, 1)), str(library), "f"))
    assert size
    assert 12 < size.code < 200
    assert size.arithmetic == 3
    assert roofline.size(pretended("Pinocchio", 1.0)) is None


def test_pinning_is_undone() -> None:
    import os

    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("no affinity here")
    before = os.sched_getaffinity(0)
    with pinned() as place:
        assert len(os.sched_getaffinity(0)) == 1
        assert place.startswith("pinned to core")
    assert os.sched_getaffinity(0) == before


@needs_compiler
def test_a_short_run_from_the_command_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def away() -> tuple[Path, Path]:
        raise Absent("Pinocchio is away")

    monkeypatch.setattr(pinocchio_peer, "includes", away)
    monkeypatch.setenv("RIGIDC_CC", compilers()[0].c)
    options = ["--seconds", "0", "--states", "8", "--target", "portable", "--out", str(tmp_path / "out")]
    assert bench.main(["iiwa", "-a", "crba", *options]) == 0
    printed = capsys.readouterr().out
    assert "CasADi C" in printed
    assert "for portable" in printed
    content = json.loads((tmp_path / "out" / "bench.json").read_text())
    labels = content["races"][0]["nanoseconds"]
    assert len(labels) == 9
    assert [label for label in labels if "preset" in label]
    assert "rigidc" in printed.partition("Emitted folder, cc -O2")[2]
    assert all(0 < time["p10"] <= time["median"] <= time["p90"] for time in labels.values())
    assert any("Pinocchio" in note for note in content["notes"])


def test_bad_requests_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["iiwa", "-a", "juggling"])
    assert "no race for juggling" in capsys.readouterr().err
    if compilers():
        assert bench.main(["nobody", "--out", str(tmp_path)]) == 2
        assert "nobody" in capsys.readouterr().err


@pytest.mark.thorough
def test_single_calls_overwrite_their_results_and_others_are_compared_with_them(tmp_path: Path) -> None:
    """As in Pinocchio's data; before, every state has a row of its own, by which results are compared, as matrices."""
    tools = compilers()
    if not tools:
        pytest.skip("no C compiler")
    given = scenario(codegen.load("chain:3"), "crba", ("q",), 4)
    leg = scenario(codegen.load("solo12"), "crba", ("q",), 4)
    build_dir = BuildDir(tmp_path)
    assert ours.sparse(given, tools[0], build_dir) == ours.preset(given, tools[0], build_dir) == ()
    dense, *_ = ours.callables(leg, tools[0], build_dir)
    nonzeros = ours.sparse(leg, tools[0], build_dir)
    assert [one.label.partition(", ")[2] for one in nonzeros] == ["sparse", "sparse batch"]
    assert max(disagreement(one, dense) for one in (*nonzeros, *ours.preset(leg, tools[0], build_dir))) < 1e-12
    place = calls.field(leg, [18 * 18], columns=False)
    assert list(place.steps) == [19, 18 * 18]
    assert list(place.in_place) == [19, 0]
