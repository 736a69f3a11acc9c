"""Names are those that an engineer would guess, and one name has one meaning (docs/glossary.md has the words)."""

from __future__ import annotations

import pytest

from tests.house import counting, naming
from tests.house.words import begins_with_participle, is_participle, name_words, says_no_thing

MOST_PARTICIPLES = 0.01
"""The share of functions whose name may begin with a participle."""


@pytest.mark.parametrize("rule", naming.RULES)
def test_no_name_breaks_the_rule(rule: str):
    offenders = naming.RULES[rule]()
    assert not offenders, f"{len(offenders)} {rule}:\n" + "\n".join(offenders)


def test_functions_are_named_by_what_they_do():
    package = naming.package()
    named = counting.participle_functions(package)
    assert len(named) <= MOST_PARTICIPLES * len(package.functions()), f"{len(named)}: {', '.join(sorted(set(named)))}"


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        ("told", True),
        ("counted", True),
        ("redrawn", True),
        ("withheld", True),
        ("unseen", True),
        ("put", False),
        ("cut", False),
        ("split", False),
        ("need", False),
        ("seed", False),
        ("present", False),
        ("bound", False),
        ("count", False),
        ("open", False),
        ("within", False),
    ],
)
def test_participles_are_told_from_verbs_and_nouns(word: str, is_one: bool):
    assert is_participle(word) == is_one


def test_a_name_that_says_no_thing_is_one_of_participles_and_prepositions_alone():
    assert says_no_thing(name_words("laid_over")) and says_no_thing(name_words("Told")) and says_no_thing(["at"])
    assert not says_no_thing(name_words("recorded_digest")) and not says_no_thing(name_words("RowTypes"))
    assert begins_with_participle("_told_by_manifest") and not begins_with_participle("generalized_rows")


def test_a_packed_assignment_is_no_swap():
    def packed(line: str) -> int:
        return len(counting.packed_assignments(counting.Source(naming.PACKAGE, line, counting.ast.parse(line))))

    assert packed("a, b = 1, f(2)") == 1 and packed("self.a, b = x, y") == 1
    assert packed("a, b = b, a") == packed("a, b = f()") == packed("a, *b = 1, 2") == 0


def test_a_table_of_data_may_be_laid_out_by_hand():
    def skipped(text: str) -> list[int]:
        return counting.skipped_formatting(counting.Source(naming.PACKAGE, text, counting.ast.parse(text)))

    assert skipped("A = {\n 'a': 1, 'b': -2,\n}  # fmt: skip\n") == []
    assert skipped("A = [f(x) for x in y]  # fmt: skip\n") == [1]
    assert skipped("def f(\n  a, b,\n): # fmt: skip\n    return a\n") == [3]
