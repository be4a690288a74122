"""What a callable is made of, short of machine code: sources, signature, counts; to and from JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from codegen.ir.counting import Count
from codegen.ir.graph import Port
from codegen.ir.pattern import Pattern


@dataclass(frozen=True, slots=True)
class Artifact:
    """The C text of one function and what its callable needs to know.

    `files` are (name, text): the header first, the kernel second, then the loop over states and what both
    include. `declarations` are the C declarations of the two functions, `symbol` the kernel's name and
    `symbol`_aos the loop's, which takes `lanes` states at a time and needs `work` reals to work with.
    """

    name: str
    symbol: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    dtype: str
    lanes: int
    work: int
    count: Count
    count_written: Count
    declarations: str
    files: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"artifact {self.symbol} ({self.dtype}): {self.count}"

    @property
    def header(self) -> str:
        """The text of the header."""
        return self.files[0][1]

    @property
    def source(self) -> str:
        """The text of the kernel."""
        return self.files[1][1]

    def facts(self) -> dict[str, Any]:
        """Everything but the files' texts, ready for JSON."""
        return {
            "name": self.name,
            "symbol": self.symbol,
            "inputs": [asdict(port) for port in self.inputs],
            "outputs": [asdict(port) for port in self.outputs],
            "dtype": self.dtype,
            "lanes": self.lanes,
            "work": self.work,
            "count": asdict(self.count),
            "count_written": asdict(self.count_written),
            "declarations": self.declarations,
        }


def from_facts(facts: dict[str, Any], files: tuple[tuple[str, str], ...]) -> Artifact:
    """The artifact that `facts` describes."""

    def ports(rows: list[dict[str, Any]]) -> tuple[Port, ...]:
        return tuple(Port(row["name"], tuple(row["shape"]), row["about"], pattern(row["pattern"])) for row in rows)

    def pattern(row: dict[str, Any] | None) -> Pattern | None:
        return Pattern((*row["shape"],), (*row["indices"],), (*row["indptr"],)) if row else None

    return Artifact(
        facts["name"],
        facts["symbol"],
        ports(facts["inputs"]),
        ports(facts["outputs"]),
        facts["dtype"],
        facts["lanes"],
        facts["work"],
        Count(**facts["count"]),
        Count(**facts["count_written"]),
        facts["declarations"],
        files,
    )
