"""Which algorithm is cheapest as emitted, by robot and number of contacts: dynamics and Delassus matrices.

No paper shows this. Only algorithms that come near the cheapest as written are counted as emitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.algorithms import ALGORITHMS
from codegen.cli.table import Cell, Table
from opcount.studies.compared import percent
from opcount.studies.drawing import SMALL, WORDS, canvas, records
from opcount.studies.measured import Case, Held, measure
from opcount.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from matplotlib.figure import Figure

    from opcount.studies.drawing import Record
    from opcount.studies.measured import Counts

PLACES: dict[str, tuple[str, ...]] = {
    "iiwa": ("lbr_iiwa_link_7:6",),
    "go1": ("FL_foot:3", "RR_foot:3", "FR_foot:3", "RL_foot:3"),
    "mini_cheetah": ("FL_foot_contact:3", "HR_foot_contact:3", "FR_foot_contact:3", "HL_foot_contact:3"),
    "mit_humanoid": ("left_ankle_link:6", "right_ankle_link:6", "left_elbow_link:6", "right_elbow_link:6"),
    "tello_humanoid": ("left-foot:6", "right-foot:6", "left_elbow_link:6", "right_elbow_link:6"),
    "jvrc1": ("left_ankle_p:6", "right_ankle_p:6", "left_wrist_y:6", "right_wrist_y:6"),
    "talos": (
        *("left_sole_link:6", "right_sole_link:6"),
        *("wrist_left_ft_tool_link:6", "wrist_right_ft_tool_link:6"),
    ),
    "atlas": ("l_foot:6", "r_foot:6", "l_hand:6", "r_hand:6"),
}
"""What is held, one place after another."""

NUMBERS = (1, 2, 4)
GROUPS = {"dynamics": "constrained", "Delassus matrix": "delassus"}
NEAR = 1.25  # times the fewest operations as written


@dataclass(frozen=True, slots=True)
class Cheapest:
    """Robots with places; makes the table of all algorithms. Quick is the first robot alone."""

    robots: Mapping[str, tuple[str, ...]]

    def __call__(self, quick: bool = False, executor: Executor | None = None) -> Table:
        """One row per robot, number of contacts and algorithm; the cheapest of their kind are marked."""
        robots = dict([*self.robots.items()][: 1 if quick else None])
        known = [*scenarios(robots)]
        pairs = [(held, name) for held in known for group in GROUPS for name in competing(group)]
        found = measure((Case(*pair, ("published", "written")) for pair in pairs), executor)
        near = [(held, name) for held in known for group in GROUPS for name in close(found, held, competing(group))]
        for pair, emitted in measure((Case(*pair, ("emitted",)) for pair in near), executor).items():
            found[pair] |= emitted
        rows = [row for held in known for group in GROUPS for row in rows_of(found, held, group)]
        header = ("robot", "contacts", "kind", "algorithm", "published", "written", "emitted", "percent", "cheapest")
        return Table(header, tuple(rows))


def scenarios(robots: Mapping[str, Sequence[str]]) -> Iterator[Held]:
    """Each robot at growing numbers of its places."""
    for name, places in robots.items():
        for number in NUMBERS:
            if number <= len(places):
                yield Held(name, tuple(places[:number]))


def competing(group: str) -> list[str]:
    """All algorithms of a kind; softly held contacts are another problem."""
    return [name for name, one in ALGORITHMS.items() if one.group == GROUPS[group] and name != "pv_soft"]


def close(found: Counts, held: Held, names: Sequence[str]) -> list[str]:
    """Those that passes may make the cheapest."""
    known = {name: found[held, name]["written"] for name in names if found[held, name]}
    return [name for name, count in known.items() if count <= NEAR * min(known.values())]


def rows_of(found: Counts, held: Held, group: str) -> list[tuple[Cell, ...]]:
    """The rows of one kind of algorithm for a robot and its contacts."""
    ours = {name: found[held, name] for name in competing(group) if found[held, name]}
    least = min(counts["emitted"] for counts in ours.values() if "emitted" in counts)
    return [
        (
            *(held.robot, len(held.contacts), group, name),
            *(counts.get(tier) for tier in ("published", "written", "emitted")),
            *(percent(counts), "yes" if counts.get("emitted") == least else ""),
        )
        for name, counts in ours.items()
    ]


def figure(table: Table) -> Figure:
    """The cheapest algorithm by robot and number of contacts (and how many others are as cheap), and its operations."""
    marked = [record for record in records(table) if record["cheapest"]]
    cells: dict[tuple[str, str, int], list[Record]] = {}
    for record in marked:
        cells.setdefault((record["kind"], record["robot"], record["contacts"]), []).append(record)
    robots = [*dict.fromkeys(record["robot"] for record in marked)]
    numbers = sorted({record["contacts"] for record in marked})
    whole = canvas(4.2 * len(GROUPS), 0.9 + 0.42 * len(robots))
    for group, ax in zip(GROUPS, whole.subplots(1, len(GROUPS), sharey=True), strict=True):
        for (kind, robot, number), (first, *others) in cells.items():
            if kind == group:
                at = numbers.index(number), robots.index(robot)
                words = f"{first['algorithm']}{f' (+{len(others)})' if others else ''}\n{first['emitted']:,}"
                ax.text(*at, words, ha="center", va="center", fontsize=SMALL)
        ax.set_xlim(-0.5, len(numbers) - 0.5)
        ax.set_ylim(len(robots) - 0.5, -0.5)
        ax.set_xticks(range(len(numbers)), numbers, fontsize=SMALL)
        ax.set_yticks(range(len(robots)), robots, fontsize=SMALL)
        ax.set_yticks([n + 0.5 for n in range(len(robots) - 1)], minor=True)
        ax.grid(axis="y", which="minor", color="0.8", linewidth=0.5)
        ax.tick_params(which="both", length=0)
        ax.spines[:].set_visible(False)
        ax.set_xlabel("contacts", fontsize=WORDS)
        ax.set_title(f"{group}: cheapest as emitted", loc="left", fontsize=WORDS, fontweight="bold")
    return whole


STUDY = Study(
    "all algorithms by robots and numbers of contacts, the cheapest marked",
    "",
    Cheapest(PLACES),
    figure,
    f"As emitted are counted algorithms within {NEAR:g} times the fewest operations as written.",
    long=True,
)
