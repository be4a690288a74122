"""The mutants of the sources (`make mutants`) fit today's sources."""

from __future__ import annotations

import pytest
from mutants import HERE, MUTANTS


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.what)
def test_what_is_replaced_is_there_once(mutant):
    assert (HERE / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
