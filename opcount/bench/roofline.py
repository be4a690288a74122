"""How near a kernel comes to what the core can do: bytes of code and arithmetic instructions per cycle.

The limits are measured by loops with nothing in their way (roofline.c), in the same run as the kernels. Kernels
are straight code, so that what stands in their object is what one call executes, the math library's sine and
cosine aside: these count in the time but not in the bytes and instructions.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from opcount.bench.build_dir import HERE

if TYPE_CHECKING:
    from opcount.bench.build_dir import BuildDir, Compiler
    from opcount.bench.race import Contestant

LOOPS = ("chain_64", "fma_48", "mixed_48", "straight_262144")
REPEATS = 31
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_ARITHMETIC = re.compile(
    r"\tv?(f?n?m?(add|sub|mul|div|sqrt|madd|msub)\w*(s[sd]|p[sd])|f(n?m)?(add|sub|mul|div)|fsqrt)\b"
)
_CODE = re.compile(r"^[0-9a-f]+ ([0-9a-f]+) [tT] (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Core:
    """One core: clock (cycles per nanosecond), scalar double instructions and bytes of straight code per cycle,
    size of its first instruction cache in bytes (0 where unknown).
    """

    clock: float
    arithmetic: float
    straight: float
    cache: int

    def __str__(self) -> str:
        return (
            f"{self.clock:.2f} GHz, {self.arithmetic:.1f} scalar double instructions per cycle, "
            f"{self.straight:.1f} bytes per cycle of code above its instruction cache of {self.cache // 1024} KB"
        )


@dataclass(frozen=True, slots=True)
class Size:
    """A kernel's code: bytes, and arithmetic instructions in them (None without objdump)."""

    code: int
    arithmetic: int | None


def core(compiler: Compiler, build_dir: BuildDir) -> Core | None:
    """The limits of the core that this runs on; None on a processor for which no loops are written."""
    text = (HERE / "roofline.c").read_text(encoding="utf-8")
    library = ctypes.CDLL(str(build_dir.shared("limits", [compiler.c, "-O2", "-march=native"], {"roofline.c": text})))
    chain, fma, mixed, straight = (_nanoseconds(library, name) for name in LOOPS)
    if not min(chain, fma, mixed, straight):
        return None
    return Core(1 / chain, chain / min(fma, mixed), chain / straight, _instruction_cache())


def _nanoseconds(library: ctypes.CDLL, name: str) -> float:
    """Of one instruction or byte of a loop: the fastest of many readings, since other work can only slow it."""
    unit = int(name.split("_")[1])
    number = max(2, 500_000 // unit)
    function = getattr(library, name)
    function.restype = ctypes.c_double
    readings = [function(ctypes.c_size_t(number)) for _ in range(REPEATS)]
    return float(min(readings)) / (number * unit)


def _instruction_cache() -> int:
    sizes = {_first_line(index / "type"): _first_line(index / "size") for index in CACHES.glob("index*")}
    kilobytes = sizes.get("Instruction", "").rstrip("K")
    return 1024 * int(kilobytes) if kilobytes.isdecimal() else 0


def _first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def size(contestant: Contestant) -> Size | None:
    """The code of a contestant's scalar kernel; None without `nm`, or where the contestant is no such kernel."""
    if not contestant.library or not shutil.which("nm"):
        return None
    own = r"(_factors)?(_part_\d+)?(_product_\d+)?(\.[\w.]+)?"  # gcc adds words to the names of its variants
    parts = re.escape(contestant.symbol) + own
    found = {m[2]: int(m[1], 16) for m in _CODE.finditer(_said("nm", "-S", contestant.library))}
    mine = [name for name in found if re.fullmatch(parts, name)]
    code = sum(found[name] for name in mine)
    loops = any("_product_" in name for name in mine)  # which run through their instructions more than once
    return Size(code, None if loops else _arithmetic(contestant.library, mine)) if code else None


def _arithmetic(library: str, names: list[str]) -> int | None:
    if not shutil.which("objdump"):
        return None
    text = _said("objdump", "-d", "--no-show-raw-insn", library)
    blocks = re.split(r"^[0-9a-f]+ <(\S+)>:$", text, flags=re.MULTILINE)
    bodies = dict(zip(blocks[1::2], blocks[2::2], strict=True))
    return sum(len(_ARITHMETIC.findall(bodies.get(name, ""))) for name in names)


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout
