"""All backends: each writes a folder of its own kind from the same graphs. To add one, add its line here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.backends import c_portable
from codegen.emission.emit import emit_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codegen.emission.kernels import AnyKernel
    from codegen.emission.spec import Header, Style


@dataclass(frozen=True, slots=True)
class Backend:
    """What a backend is: in which style it writes what is wanted (or refuses it), and the files, name to text.

    Files are made of a header sheet, kernels, a style, and further sources that call the kernels.
    """

    style: Callable[[Style], Style]
    folder: Callable[[Header, tuple[AnyKernel, ...], Style, Mapping[str, str]], dict[str, str]]


BACKENDS: dict[str, Backend] = {
    "c": Backend(lambda wanted: wanted, emit_folder),
    "c_portable": Backend(c_portable.style, c_portable.folder),
}
"""By name; the first is what is taken where none is named."""
