"""A failure names the innermost line of our own code, wherever the package and the clone lie."""

from __future__ import annotations

import pytest

from reticent.engines import local
from reticent.errors import is_own_file, locate_error
from reticent.kernels.cover_counts import count_covered


def test_our_code_is_told_by_the_package_and_not_by_a_folder_s_name(tmp_path):
    """Git calls a clone `reticent`: its tests, and whatever else lies in it, have that name in their path."""
    folder = tmp_path / "reticent" / "tests"
    folder.mkdir(parents=True)
    (folder / "caller.py").write_text("def call():\n    raise KeyError('x')\n")
    held: dict = {}
    exec(compile((folder / "caller.py").read_text(), str(folder / "caller.py"), "exec"), held)
    with pytest.raises(KeyError) as caught:
        held["call"]()
    assert locate_error(caught.value) == "outside our code"
    with pytest.raises(AttributeError) as caught:
        local.count_rows(held["call"], {})
    assert locate_error(caught.value).startswith("in local.py, line ")
    with pytest.raises(TypeError) as caught:
        count_covered(*range(8))
    assert locate_error(caught.value).startswith("in cover_counts.py, line ")
    assert is_own_file(local.__file__) and not is_own_file(str(folder / "caller.py"))
