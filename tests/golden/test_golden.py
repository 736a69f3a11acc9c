"""Everything that the golden set pins comes out as it was recorded, byte for byte.

A change that is meant is recorded by `python -m tests.golden.record`, and stands in the changelog.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.groups import GROUPS, make
from tests.golden.record import differences, environment, recorded, write_texts


@pytest.mark.parametrize("group", GROUPS)
def test_what_was_recorded_comes_out_again(group: str, tmp_path: Path):
    items = make(group, tmp_path / "work")
    assert not [name for name, made in items.items() if "A bug of ours" in str(made)]
    lines = differences(group, items)
    if not lines:
        return
    write_texts(group, items, tmp_path / "texts")
    known = recorded()["environment"]
    versions = [
        f"{name} {known.get(name)} and now {now}" for name, now in environment().items() if known.get(name) != now
    ]
    said = "\n".join([*lines, f"What came out is in {tmp_path / 'texts'}."])
    if versions:
        pytest.skip(f"recorded with {', '.join(versions)}, which may be why these differ:\n{said}")
    pytest.fail(said, pytrace=False)


def test_every_group_that_was_recorded_is_made():
    assert list(recorded()["groups"]) == list(GROUPS)
