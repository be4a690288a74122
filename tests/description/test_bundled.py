"""The robots that come with the package: sizes, schema, provenance, and the facts they are made from."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from work import calls

from codegen.description import bundle, bundle_loops, bundled, read, write_json
from codegen.description.json_format import SCHEMA
from codegen.robot import load

SIZES = {
    # name: floating, degrees of freedom, nodes, loops
    "anymal_b": (True, 18, 13, 0),
    "atlas": (True, 36, 31, 0),
    "atlas_one_hand": (True, 60, 55, 0),
    "atlas_shadow": (True, 84, 79, 0),
    "cassie": (True, 20, 11, 4),
    "chain12_belt": (False, 12, 6, 6),
    "chain12_geared": (False, 12, 12, 12),
    "four_bar": (False, 1, 1, 1),
    "four_bar_branch_2_5": (True, 16, 11, 10),
    "go1": (True, 18, 13, 0),
    "icub": (True, 38, 33, 0),
    "iiwa": (False, 7, 7, 0),
    "jvrc1": (True, 38, 33, 32),
    "mini_cheetah": (True, 18, 13, 12),
    "mit_humanoid": (True, 24, 17, 16),
    "panda": (False, 9, 9, 0),
    "parallel_chain_explicit_d10_l8": (False, 19, 13, 1),
    "parallel_chain_implicit_d5_l7": (False, 9, 5, 1),
    "planar_leg_linkage": (False, 2, 2, 1),
    "shadow_hand": (False, 24, 24, 0),
    "six_bar": (False, 3, 1, 1),
    "solo12": (True, 18, 13, 0),
    "solo8": (True, 14, 9, 0),
    "talos": (True, 50, 45, 0),
    "talos_reduced": (True, 38, 33, 0),
    "tello_humanoid": (True, 24, 15, 14),
}
FACTS = os.environ.get("RIGIDC_FACTS", "")


def test_the_list_is_complete() -> None:
    assert bundled() == tuple(sorted(SIZES))


@pytest.mark.parametrize("name", SIZES)
def test_size_source_and_schema(name: str) -> None:
    model = load(name)
    assert (model.floating, model.nv, len(model.nodes), len(model.loops)) == SIZES[name]
    assert model.name == name
    assert model.source.origin
    assert model.source.licence
    data = json.loads(Path(bundle.ROBOTS, f"{name}.json").read_text(encoding="utf-8"))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(data)


@pytest.mark.parametrize("name", SIZES)
def test_written_again_it_is_the_same_file(name: str) -> None:
    text = Path(bundle.ROBOTS, f"{name}.json").read_text(encoding="utf-8")
    assert write_json(read(name)) == text
    assert "/dev" not in text
    assert "mesh" not in text


@pytest.mark.parametrize("name", SIZES)
def test_bodies_come_parents_first_and_nodes_are_whole(name: str) -> None:
    model = load(name)
    assert all(body.parent < i for i, body in enumerate(model.bodies))
    assert [i for node in model.nodes for i in node.bodies] == list(range(len(model.bodies)))
    for i, node in enumerate(model.nodes):
        assert node.parent < i
        carriers = {model.bodies[body].parent for body in node.bodies} - set(node.bodies)
        assert len(carriers) == 1
        carrier = carriers.pop()
        assert carrier == -1 if node.parent < 0 else carrier in model.nodes[node.parent].bodies


def test_talos_loads_with_little_work() -> None:
    load("talos")
    assert calls(lambda: load("talos")) < 100_000


def test_bases_can_be_exchanged() -> None:
    assert load("iiwa", base="floating").nv == 13
    assert load("talos", base="fixed").nv == 44


def _value(text: str, **angles: float) -> float:
    """A text of ours, evaluated here and only here."""
    names = {"sin": math.sin, "cos": math.cos, "pi": math.pi, "__builtins__": {}}
    return float(eval(text, names, angles))


@pytest.mark.parametrize(("q3", "q4"), [(0.0, 0.0), (0.1, -0.2), (-0.15, 0.25)])
def test_tellos_hip_closes_on_its_closed_form(q3: float, q4: float) -> None:
    a, b, c, d, e, f = 0.0228, 0.0098, 0.01995, 0.0128, 0.0112, 0.01888125
    y = []
    for s in (1.0, -1.0):
        A = a - d * math.cos(q3) * math.sin(q4) - s * e * math.sin(q3)
        B = -d * math.cos(q4)
        C = (
            b * math.cos(q3)
            + s * c * math.sin(q3)
            + a * math.cos(q3) * math.sin(q4)
            - s * e * math.sin(q3) * math.sin(q4)
            - f
        )
        D = math.sqrt(A * A + B * B - C * C)
        y.append(math.atan2(A * C - B * D, B * C + A * D))
    for text in bundle_loops.HIP:
        assert _value(text, r1=6 * y[0], r2=6 * y[1], q3=q3, q4=q4) == pytest.approx(0.0, abs=1e-16)


@pytest.mark.parametrize(("q3", "q4"), [(0.0, 0.0), (0.3, -0.2), (-0.5, 0.4)])
def test_tellos_knee_and_ankle_close_on_their_closed_form(q3: float, q4: float) -> None:
    k1, k2, k3, k4, k5, k6, k7 = 0.00336, 0.0208, 0.02184, 0.0028, 0.0182, 0.00294, 0.02613584
    beta, alpha0 = q4 + math.radians(114), math.radians(120.84)
    A = -k1 * math.sin(math.pi / 9) - k4 * math.sin(beta)
    B = k2 - k4 * math.cos(beta) - k1 * math.cos(math.pi / 9)
    C = k3 * math.cos(math.pi / 9) + k5 * math.cos(beta) - k6 * math.cos(beta - math.pi / 9) - k7
    D = math.sqrt(A * A + B * B - C * C)
    alpha = math.atan2(B * D + A * C, B * C - A * D)
    r1, r2 = 6 * (q3 - (alpha - alpha0)), 6 * (q3 + (alpha - alpha0))
    for text in bundle_loops.KNEE_ANKLE:
        assert _value(text, r1=r1, r2=r2, q3=q3, q4=q4) == pytest.approx(0.0, abs=1e-15)


def test_tellos_loops_name_the_rotors_and_links() -> None:
    loops = {loop.name: loop for loop in load("tello_humanoid").loops}
    hip = json.loads(loops["left-hip-differential"].data)
    assert hip["variables"] == {
        "r1": "left-hip-rotor-1",
        "r2": "left-hip-rotor-2",
        "q3": "left-gimbal",
        "q4": "left-thigh",
    }
    assert hip["independent"] == ["left-hip-rotor-1", "left-hip-rotor-2"]
    assert hip["scale"] == [6.0, 6.0]


@pytest.mark.skipif(not FACTS, reason="RIGIDC_FACTS names no folder of facts")
def test_the_facts_give_the_same_files() -> None:
    texts = bundle.texts(Path(FACTS))
    assert sorted(texts) == list(bundled())
    for name, text in texts.items():
        assert text == Path(bundle.ROBOTS, f"{name}.json").read_text(encoding="utf-8"), name


@pytest.mark.skipif(not FACTS, reason="RIGIDC_FACTS names no folder of facts")
@pytest.mark.parametrize("name", bundle.LINKED)
def test_clusters_masses_and_maps_are_the_facts(name: str) -> None:
    facts, model = json.loads(Path(FACTS, f"{name}.json").read_text(encoding="utf-8")), load(name, snap=0.0)
    assert (model.nq, model.nv) == (facts["num_positions"], facts["num_velocities"])
    bodies = {body["name"]: body for body in facts["bodies"]}
    clusters = {frozenset(facts["bodies"][i]["name"] for i in c["bodies"]) for c in facts["clusters"]}
    assert {frozenset(model.bodies[i].name for i in node.bodies) for node in model.nodes} == clusters
    for body in model.bodies:
        stated = bodies[body.name]
        assert body.inertia.mass == stated["mass"]
        # Some inertias of the facts are symmetric to the last bit but one: the upper half counts.
        np.testing.assert_array_equal(np.triu(body.inertia.moment), np.triu(stated["inertia"]))
        if stated["joint"]["type"] != "free":
            assert body.joint.axis == tuple(stated["joint"]["axis"])
            np.testing.assert_array_equal(body.placement.R, stated["placement"]["rotation"])
    names = [c["name"] for c in facts["clusters"] if c["constraint"]["kind"] in ("gear", "belt_pair")]
    loops = {loop.name: loop for loop in model.loops}
    for cluster in facts["clusters"]:
        if cluster["name"] not in names:
            continue
        # K of the facts annihilates the joints that the matrix of the loop gives.
        data = json.loads(loops[cluster["name"]].data)
        members = [facts["bodies"][i]["name"] for i in cluster["bodies"]]
        y = np.arange(1.0, 1.0 + len(data["independent"]))
        q = dict(zip(data["independent"], y, strict=True))
        q |= dict(zip(data["dependent"], np.array(data["matrix"]) @ y, strict=True))
        np.testing.assert_allclose(
            np.array(cluster["constraint"]["K"]) @ [q[member] for member in members], 0.0, atol=1e-12
        )
