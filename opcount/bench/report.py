"""What a bench has found, as text, Markdown, JSON and a figure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.cli.table import Table, as_json
from opcount.bench.ours import FOLDER
from opcount.bench.peers import NOTES, PEERS
from opcount.bench.race import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.cli.table import Cell
    from opcount.bench.race import Spread
    from opcount.bench.roofline import Core, Size

OURS, *RIVALS = PEERS
LIMITS = (
    *("robot", "algorithm", "build", "ns", "cycles", "bytes", "bytes/cycle", "of the limit"),
    *("arithmetic", "arithmetic/cycle", "of the limit "),
)


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """One race: `readings` (repetitions, contestants) are nanoseconds per state, `sizes` those of our kernels."""

    robot: str
    algorithm: str
    operations: int
    labels: tuple[str, ...]
    readings: NDArray[np.float64]
    sizes: tuple[Size | None, ...]

    def __repr__(self) -> str:
        return f"<Result {self.algorithm} of {self.robot}: {', '.join(self.labels)}>"

    def time(self, label: str) -> Spread | None:
        """Nanoseconds per state, None for one who took no part."""
        return spread(self.readings[:, self.labels.index(label)]) if label in self.labels else None

    def ratio(self, peer: str, label: str) -> Spread | None:
        """How often faster `label` is than the peer's fastest build, turn by turn."""
        theirs = [k for k, name in enumerate(self.labels) if name.startswith(peer)]
        if not theirs or label not in self.labels:
            return None
        best = min(theirs, key=lambda k: float(np.median(self.readings[:, k])))
        return self.longer(self.labels[best], label)

    def longer(self, label: str, other: str) -> Spread | None:
        """How many times as long `label` takes as `other`, turn by turn."""
        if not {label, other} <= {*self.labels}:
            return None
        return spread(self.readings[:, self.labels.index(label)] / self.readings[:, self.labels.index(other)])


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """All races of a run; `facts` say what ran where, `absent` who took no part and why."""

    results: tuple[Result, ...]
    core: Core | None
    facts: tuple[tuple[str, str], ...]
    absent: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Report on {len(self.results)} races>"

    @property
    def labels(self) -> tuple[str, ...]:
        """Everyone who took part somewhere, by peers; batches after single calls, in rows before columns."""
        found = tuple(dict.fromkeys(label for result in self.results for label in result.labels))
        singly = sorted(found, key=lambda label: label.partition(", ")[2])
        return tuple(label for peer in PEERS for label in singly if label.startswith(peer))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the comparisons compare, and who is missing."""
        algorithms = dict.fromkeys(result.algorithm for result in self.results)
        return (*(f"{name}: {NOTES[name]}" for name in algorithms if name in NOTES), *self.absent)

    def times(self) -> Table:
        """Nanoseconds per state: median (10th..90th percentile)."""
        rows: list[tuple[Cell, ...]] = [
            (*_key(result), result.operations, *(_shown(result.time(label)) for label in self.labels))
            for result in self.results
        ]
        return Table(("robot", "algorithm", "operations", *self.labels), tuple(rows))

    def ratios(self) -> Table:
        """How often faster ours are than the fastest build of each peer."""
        mine = [label for label in self.labels if label.startswith(OURS)]
        rows: list[tuple[Cell, ...]] = []
        for result in self.results:
            for peer in RIVALS:
                found = [result.ratio(peer, label) for label in mine]
                if any(found):
                    rows.append((*_key(result), peer, *(round(r.median, 2) if r else None for r in found)))
        return Table(("robot", "algorithm", "against the best", *mine), tuple(rows))

    def folders(self) -> Table:
        """How many times as long an emitted folder takes as the callable's C, both by the same compiler."""
        labels = [label for label in self.labels if FOLDER in label and label.replace(FOLDER, "") in self.labels]
        rows: list[tuple[Cell, ...]] = []
        for result in self.results:
            found = [result.longer(label, label.replace(FOLDER, "")) for label in labels]
            if any(found):
                rows.append((*_key(result), *(round(r.median, 2) if r else None for r in found)))
        return Table(("robot", "algorithm", *labels), tuple(rows))

    def limits(self) -> Table:
        """Code and arithmetic per cycle of our kernels, and their share of what the core can do."""
        rows: list[tuple[Cell, ...]] = []
        for result in self.results if self.core else ():
            for label, size in zip(result.labels, result.sizes, strict=True):
                time = result.time(label)
                if size and time and self.core:
                    rows.append((*_key(result), label, *_limits(self.core, size, time.median)))
        return Table(LIMITS, tuple(rows))

    def text(self) -> str:
        """For people at a terminal."""
        return self._document(lambda title: f"\n{title}\n\n", lambda table: table.text(), "")

    def markdown(self) -> str:
        """The same for a page."""
        return "# Bench\n\n" + self._document(lambda t: f"\n## {t}\n\n", lambda table: table.markdown(), "- ")

    def _document(self, title: Any, shown: Any, bullet: str) -> str:
        parts = [f"{bullet}{name}: {value}\n" for name, value in self.facts]
        parts += [title("Nanoseconds per state: median (10th..90th percentile)"), shown(self.times())]
        if (ratios := self.ratios()).rows:
            parts += [title("Times faster than the fastest build of a peer (median of the ratios turn by turn)")]
            parts += [shown(ratios)]
        if (folders := self.folders()).rows:
            parts += [
                title("Emitted folder, cc -O2 -march=native (or --target): times as long as the C of a callable"),
                shown(folders),
            ]
        if (limits := self.limits()).rows:
            parts += [title("Share of the core's limits, one state per call"), shown(limits)]
        if self.notes:
            parts += [title("Notes"), *(f"{bullet}{note}\n" for note in self.notes)]
        return "".join(parts)

    def json(self) -> str:
        """Everything, for programs."""
        races = [
            {
                "robot": result.robot,
                "algorithm": result.algorithm,
                "operations": result.operations,
                "repetitions": len(result.readings),
                "nanoseconds": {label: _dict(result.time(label)) for label in result.labels},
                "faster": {
                    peer: {label: _dict(result.ratio(peer, label)) for label in result.labels if label.startswith(OURS)}
                    for peer in RIVALS
                    if any(label.startswith(peer) for label in result.labels)
                },
                "sizes": {k: asdict(v) for k, v in zip(result.labels, result.sizes, strict=True) if v},
            }
            for result in self.results
        ]
        core = asdict(self.core) if self.core else None
        return as_json({**dict(self.facts), "core": core, "races": races, "notes": list(self.notes)})


def _key(result: Result) -> tuple[str, str]:
    return result.robot, result.algorithm


def _limits(core: Core, size: Size, time: float) -> tuple[Cell, ...]:
    cycles = time * core.clock
    fetched, counted = size.code / cycles, None if size.arithmetic is None else size.arithmetic / cycles
    bound = size.code > core.cache > 0
    return (
        *(
            round(time, 1),
            round(cycles),
            size.code,
            round(fetched, 2),
            _percent(fetched / core.straight) if bound else "",
        ),
        *(size.arithmetic, counted and round(counted, 2), _percent(counted / core.arithmetic) if counted else ""),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _shown(time: Spread | None) -> str:
    return f"{time.median:.0f} ({time.p10:.0f}..{time.p90:.0f})" if time else ""


def _dict(value: Spread | None) -> dict[str, float] | None:
    return asdict(value) if value else None
