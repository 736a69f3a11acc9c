"""Bodies are plain: no conditional expression inside another, few assignments packed into one."""

from __future__ import annotations

from tests.house import counting, naming

MAX_PACKED_ASSIGNMENTS = 0.002
"""How many `a, b = x, y` there may be for each line."""


def test_no_conditional_expression_is_part_of_another():
    nested = [
        f"{module}:{node.lineno}"
        for module, source in naming.package().modules.items()
        for node in counting.nested_conditional_expressions(source)
    ]
    assert not nested, "\n".join(nested)


def test_few_assignments_are_packed():
    package = naming.package()
    packed = [
        f"{module}:{node.lineno}"
        for module, source in package.modules.items()
        for node in counting.packed_assignments(source)
    ]
    assert len(packed) <= MAX_PACKED_ASSIGNMENTS * package.lines, f"{len(packed)}:\n" + "\n".join(packed)


def test_a_nested_conditional_expression_is_seen():
    def nested(text: str) -> int:
        source = counting.Source(naming.PACKAGE, text, counting.ast.parse(text))
        return len(counting.nested_conditional_expressions(source))

    assert nested("a = 1 if b else 2 if c else 3") == nested("a = 1 if (2 if b else 3) else 4") == 1
    assert nested("a = 1 if b else f(2 if c else 3)") == nested("a = [1 if b else 2, 3 if c else 4]") == 0
