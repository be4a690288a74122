"""Tests that share what is slow to make go to one process."""

import pytest

TOGETHER = True


def test_ids_carry_the_group(request: pytest.FixtureRequest) -> None:
    """By it pytest-xdist keeps a group together; a pytest that stores ids elsewhere takes it apart without a word."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("not in a process of pytest-xdist that keeps groups together")
    assert request.node.nodeid.endswith("@test_groups")
