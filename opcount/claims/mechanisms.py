"""The robots, chains, stems and trees that claims are counted on, beside those of `opcount.studies.measured.PAPER`."""

from __future__ import annotations

from opcount.studies.measured import PAPER, Held, fingers

LENGTHS = (6, 8, 10, 12, 14, 16)
SHORT = (4, 6, 8, 10, 12)
ROOTS = (4, 6)
DEPTHS = (3, 4)
SMALLEST = (3, 4, 5, 6, 7, 8, 10, 12, 16)
NUMBER_OF_LIMBS = (2, 4, 6, 8, 10)


def points(robot: str, *frames: str) -> Held:
    """A robot with frames held by points."""
    return Held(robot, tuple(f"{frame}:3" for frame in frames))


FEET = ("l_foot:6", "r_foot:6")
HAND = Held("shadow_hand", fingers("rh"))
ONE_HAND = Held("atlas_one_hand", fingers("lh"))
STANDING = Held("atlas_shadow", (*FEET, *fingers("lh", "rh")))
TWO_FEET = points("go1", "FL_foot", "RR_foot")

CHAINS = tuple(Held(f"chain:{n},alternate", ("tip:6",)) for n in LENGTHS)
FREE_CHAINS = tuple(Held(f"chain:{n},alternate", ()) for n in LENGTHS)
WELDED = tuple(Held(f"chain:{n},alternate", tuple(f"link{i}:6" for i in range(n))) for n in SHORT)
POINTED = tuple(Held(f"chain:{n},alternate", tuple(f"link{i}:3" for i in range(n))) for n in SHORT)
ROOTED = tuple(Held(f"chain:{k * k},alternate", tuple(f"link{k * k - 1 - i}:6" for i in range(k))) for k in ROOTS)
TREES = tuple(Held(f"binary_tree:{depth}", tuple(f"tip{i}:3" for i in range(2 ** (depth - 1)))) for depth in DEPTHS)
TREE_LINKS = tuple(3 * (2**depth - 1) for depth in DEPTHS)
SMALL_CHAINS = tuple(Held(f"chain:{n},alternate", ()) for n in SMALLEST)
LIMBS = tuple(Held(f"stem:1,{k // 2},3", tuple(f"tip{i}:3" for i in range(k))) for k in NUMBER_OF_LIMBS)
DRIVEN = (4, 6, 8, 10, 12)
GEARED, BELTS = (tuple(Held(f"{kind}_chain:{n},alternate", ()) for n in DRIVEN) for kind in ("geared", "belt"))
HELD_BELTS = tuple(Held(f"belt_chain:{n},alternate", ("tip:6",)) for n in DRIVEN)
LOOPED_FEET: dict[str, tuple[str, ...]] = {
    "chain12_geared": ("link-11:6",),
    "chain12_belt": ("link-B-5:6",),
    "mini_cheetah": tuple(f"{leg}_foot_contact:6" for leg in ("FL", "FR", "HL", "HR")),
    "mit_humanoid": ("left_ankle_link:6", "right_ankle_link:6"),
    "tello_humanoid": ("left-foot:6", "right-foot:6"),
    "jvrc1": ("left_ankle_p:6", "right_ankle_p:6"),
}
LOOPED = {robot: Held(robot, ()) for robot in LOOPED_FEET}
LOOPED_ON_FEET = {robot: Held(robot, feet) for robot, feet in LOOPED_FEET.items()}


def stem(links: int, branches: int, links_per_branch: int = 7) -> Held:
    """A stem with branches on either end, their tips held."""
    tips = ("tip:6",) if branches == 0 else tuple(f"tip{n}:6" for n in range(2 * branches))
    return Held(f"stem:{links},{branches},{links_per_branch}", tips)


def go1() -> tuple[Held, ...]:
    """The quadruped on one foot, two and four."""
    return PAPER["go1 F3 x1"], TWO_FEET, PAPER["go1 F3 x4"]


def humanoids() -> tuple[Held, ...]:
    """Talos on its feet, and Atlas on feet and hands."""
    return PAPER["talos F6^2"], PAPER["atlas F6^2 H6^2"]
