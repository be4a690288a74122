"""What every idea saves alone: the table, on the smallest robots that show it."""

from __future__ import annotations

from codegen.lowering import LOWERING
from opcount.studies.ablation import PASSES, STEPS, table, without_each
from opcount.studies.measured import PAPER, Held


def test_every_optional_step_and_every_pass_has_a_row() -> None:
    assert set(STEPS) == {step.name for step in LOWERING if step.plain}
    found = table([(Held("chain:3", ()), "aba")])
    assert tuple(row[0] for row in found.rows) == (*STEPS, *PASSES)
    assert {row[-1] for row in found.rows} == {1}
    assert all(lines > 10 for _, lines, *_ in found.rows)


def test_an_idea_left_out_costs_operations() -> None:
    counts = without_each((PAPER["iiwa H6"], "pv"))
    whole = counts.pop("")
    assert counts["canonical_frames"] > 1.1 * whole
    assert counts["determined_joints"] > 1.1 * whole
    assert counts["hoist_angles"] == counts["list_scheduling"] == whole  # these save time
