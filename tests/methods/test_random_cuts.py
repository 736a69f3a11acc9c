"""Drawing cuts among those of nearly equal loss is no cure against who knows the method: one set of six people, exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest

from studies.minimality import figures
from tests.methods.random_cuts import Drawn


@pytest.mark.parametrize(
    ("setting", "above"), [("line", Fraction(8, 15)), ("secret", Fraction(61, 75))], ids=("key known", "key secret")
)
def test_with_and_without_its_key_more_releases_exceed_l_2_than_by_cuts_of_least_loss(setting, above, monkeypatch):
    monkeypatch.setitem(figures.METHODS, "mondrian (drawn)", Drawn())
    drawn = figures.measured(setting, "probabilistic l = 2", "mondrian (drawn)", 1)
    least = figures.measured("line", "probabilistic l = 2", "mondrian", 1)
    assert Fraction(drawn["exceeding"], drawn["published"]) == above > Fraction(least["exceeding"], least["published"])
