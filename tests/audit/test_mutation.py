"""The driver of mutation tests: it changes one expression at a time, and leaves everything as it was."""

from __future__ import annotations

from types import ModuleType

from tests.audit.mutation import find_function, list_mutants

SOURCE = '''
def keeps(sizes: list[int], k: int = 2) -> bool:
    """Tell whether no size is below 2."""
    if not sizes:
        raise ValueError("none of 3")
    return min(sizes) >= k and True


class Limit:
    @property
    def twice(self) -> int:
        return 2 * self.most
'''
NAMES = ["keeps", "Limit.twice"]


def load() -> ModuleType:
    module = ModuleType("keeping")
    exec(compile(SOURCE, "keeping", "exec"), vars(module))
    return module


def test_each_mutant_is_one_change_of_what_a_function_does():
    changes = [(mutant.function, mutant.change.partition(" in ")[0]) for mutant in list_mutants("keeping", SOURCE)]
    assert changes == [
        ("keeps", "the condition negated"),
        ("keeps", "And -> Or"),
        ("keeps", "GtE -> Gt"),
        ("keeps", "min -> max"),
        ("keeps", "True -> False"),
        ("Limit.twice", "Mult -> FloorDiv"),
        ("Limit.twice", "2 -> 3"),
    ]


def test_a_mutants_code_replaces_that_of_the_function_and_of_nothing_else():
    module = load()
    keeps, kept = module.keeps, module.keeps.__code__
    (mutant,) = [each for each in list_mutants("keeping", SOURCE) if each.change.startswith("GtE")]
    function = find_function(module, mutant.function)
    assert function is keeps and keeps([2, 3])
    function.__code__ = mutant.code
    assert not keeps([2, 3]) and keeps([3, 3])
    function.__code__ = kept
    assert keeps([2, 3])
    assert [find_function(module, name) is None for name in NAMES] == [False, False]
    assert find_function(module, "absent") is None
