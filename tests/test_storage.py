"""Arrays between calls share storage where they are not needed at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from codegen.emission.functions import Call
from codegen.emission.storage import APART, storage


def test_an_array_takes_the_place_of_one_that_is_done() -> None:
    calls = [Call("f", ("a",)), Call("g", ("a", "b")), Call("h", ("b", "c"))]
    found = storage({"a": 10, "b": 40, "c": 10}, calls)
    assert found.starts == {"a": 48, "b": 0, "c": 48}
    assert found.size == 58
    assert [*found.declarations("T")][:2] == ["T arrays_[58];", "T *const a = arrays_ + 48;"]
    assert not [*storage({}, calls).declarations("T")]


@pytest.mark.parametrize("seed", range(20))
def test_arrays_that_are_needed_at_once_do_not_overlap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"x{k}" for k in range(12)]
    sizes = {name: int(rng.integers(1, 100)) for name in names}
    calls = [Call("f", tuple(rng.choice(names, 4, replace=False).tolist())) for _ in range(10)]
    calls.append(Call("f", tuple(name for name in names if not any(name in call.arguments for call in calls))))
    found = storage(sizes, calls)
    lives = {name: [k for k, call in enumerate(calls) if name in call.arguments] for name in names}
    for a, b in combinations(names, 2):
        at, other = (range(found.starts[x], found.starts[x] + sizes[x]) for x in (a, b))
        together = lives[a][0] <= lives[b][-1] and lives[b][0] <= lives[a][-1]
        assert not (together and at.start < other.stop and other.start < at.stop)
    assert all(start % APART == 0 for start in found.starts.values())
    assert found.size <= sum(-(-size // APART) * APART for size in sizes.values())
