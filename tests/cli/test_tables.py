"""Tables as text, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import json

from codegen.cli.table import Table, plain


def test_tables_in_every_form() -> None:
    table = Table(("name", "n"), (("a|b", 1), ("c\n\x1b[31m", 12345)))
    assert table.text() == "name              n\na|b               1\nc\\n\\x1b[31m  12,345\n"
    assert table.markdown().splitlines()[1:3] == ["| ----------- | -----: |", "| a\\|b        |      1 |"]
    assert table.csv() == 'name,n\na|b,1\n"c\n\x1b[31m",12345\n'
    assert json.loads(table.json()) == [{"name": "a|b", "n": 1}, {"name": "c\n\x1b[31m", "n": 12345}]
    assert Table(("a", "b"), ()).text() == "a  b\n"
    assert json.loads(Table(("x",), ((float("inf"),),)).json()) == [{"x": None}]
    assert plain("é\t☃\u202e") == "é\\t☃\\u202e"


def test_tables_for_latex() -> None:
    text = Table(("a_b", "n"), (("50% & {x^2}\\", 12345), ("#", None))).latex()
    head, toprule, *_ = text.splitlines()
    assert (head, toprule) == (r"\begin{tabular}{lr}", r"\toprule")
    assert r"50\% \& \{x\textasciicircum{}2\}\textbackslash{} & 12,345 \\" in text
    assert text.endswith("\\bottomrule\n\\end{tabular}\n")
