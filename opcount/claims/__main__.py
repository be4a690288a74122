"""`python -m opcount.claims [ID ...]`: evaluate the papers' claims, all of them if none is named."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING

from codegen.progress import doing, shown
from opcount.claims import CLAIMS, PAPERS
from opcount.claims.evaluation import evaluate, table
from opcount.claims.expected import FILE, read, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opcount.claims.evaluation import Finding


@shown()
def main(argv: Sequence[str] | None = None) -> int:
    """Print the claims that the arguments name, with our numbers and verdicts."""
    args = _arguments(argv)
    chosen = [claim for claim in CLAIMS.values() if not args.ids or {claim.id, claim.paper} & {*args.ids}]
    with doing("claims"):
        findings = evaluate(chosen)
    if args.write:
        now = {finding.claim.id: finding.verdicts for finding in findings}
        FILE.write_text(written({**read(), **now}), encoding="utf-8")
    sys.stdout.write(_pages(findings) if args.form == "markdown" else getattr(table(findings), args.form)())
    return 0


def _pages(findings: Sequence[Finding]) -> str:
    """A heading and a Markdown table for each paper, columns not aligned: quotes are long."""
    parts = {paper: [one for one in findings if one.claim.paper == key] for key, paper in PAPERS.items()}
    text = "\n".join(f"## {paper}\n\n{table(found).markdown()}" for paper, found in parts.items() if found)
    return re.sub(r"-{4,}", "---", re.sub(r" {2,}", " ", text))


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The claims named, and the form to print them in."""
    known = "\n".join(f"  {name:16} {paper} ({len(paper.claims)} claims)" for name, paper in PAPERS.items())
    parser = argparse.ArgumentParser(
        prog="python -m opcount.claims",
        description="What the papers claim, and what our counts say.",
        epilog=f"papers, each of which stands for all its claims:\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("ids", metavar="ID", nargs="*", help="claims or papers (default: all claims)")
    form = parser.add_mutually_exclusive_group()
    for name in ("markdown", "csv", "json"):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, default="text")
    parser.add_argument("--write", action="store_true", help="take today's verdicts as those that tests expect")
    args = parser.parse_args(argv)
    unknown = [name for name in args.ids if name not in CLAIMS and name not in PAPERS]
    if unknown:
        parser.error(f"there is no claim or paper {unknown[0]!r}; the papers are {', '.join(PAPERS)}")
    return args


if __name__ == "__main__":
    sys.exit(main())
