"""A refused question is answered once it is put as the refusal advises, to a release of every kind."""

from __future__ import annotations

import pytest

from reticent import catalogue
from reticent.errors import RequestError
from tests.advice.kind_releases import publish_kind

SHAPE = "SELECT COUNT(*) or SUM, AVG, MIN or MAX of a column FROM release WHERE ... GROUP BY ... ORDER BY ... LIMIT n."
SHAPED = "SELECT COUNT(*) FROM release WHERE age > 30 GROUP BY city ORDER BY city LIMIT 2"
FOLLOWED = [
    # A question, words of what it is advised, and the question as it is then put.
    ("SELECT * FROM release", SHAPE, SHAPED),
    ("COUNT(*)", SHAPE, SHAPED),
    ("SELECT MEDIAN(age) FROM release", SHAPE, "SELECT AVG(age) FROM release"),
    ("SELECT COUNT(*) FROM release r JOIN release s ON 1 = 1", SHAPE, SHAPED),
    ("SELECT COUNT(*) FROM release LIMIT 3 OFFSET 2", SHAPE, "SELECT COUNT(*) FROM release LIMIT 3"),
    ("SELECT COUNT(*) FROM release; SELECT 1", SHAPE, "SELECT COUNT(*) FROM release"),
    ("SELECT COUNT(*) FROM release WHERE EXISTS (SELECT 1)", SHAPE, SHAPED),
    ("DELETE FROM release", SHAPE, SHAPED),
    ("SELECT age FROM release", "GROUP BY age.", "SELECT age, COUNT(*) FROM release GROUP BY age"),
    ("SELECT city, COUNT(*) FROM release", "GROUP BY city.", "SELECT city, COUNT(*) FROM release GROUP BY city"),
    ("SELECT COUNT(*) FROM people", "FROM release.", "SELECT COUNT(*) FROM release"),
    ("SELECT COUNT(*) FROM release WHERE agee > 30", "'age' instead", "SELECT COUNT(*) FROM release WHERE age > 30"),
    ("SELECT agee, COUNT(*) FROM release GROUP BY agee", "'age' instead", "SELECT age, COUNT(*) FROM release GROUP BY age"),
    ("SELECT COUNT(DISTINCT city) FROM release", "COUNT(*), or COUNT of a column.", "SELECT COUNT(city) FROM release"),
    ("SELECT city, COUNT(*) FROM release GROUP BY city HAVING COUNT(*) > 3", "the question without HAVING",
     "SELECT city, COUNT(*) FROM release GROUP BY city"),
    ("SELECT city, COUNT(*) FROM release GROUP BY city HAVING COUNT(*) > 3", "or ORDER BY and LIMIT",
     "SELECT city, COUNT(*) FROM release GROUP BY city ORDER BY COUNT(*) DESC LIMIT 2"),
    ("SELECT COUNT(*) FROM release WHERE age > 'old'", "a number.", "SELECT COUNT(*) FROM release WHERE age > 60"),
    ("SELECT COUNT(*) FROM release WHERE age = NULL", "age IS NULL.", "SELECT COUNT(*) FROM release WHERE age IS NULL"),
    ("SELECT COUNT(*) FROM release WHERE age + 1 > 3", "AND, OR, NOT, =", "SELECT COUNT(*) FROM release WHERE age > 2"),
    ("SELECT COUNT(*) FROM release WHERE age + 1 > 3", "BETWEEN, IN (...)",
     "SELECT COUNT(*) FROM release WHERE NOT (age BETWEEN 3 AND 30 OR city IN ('Ulm', 'Bonn'))"),
    ("SELECT AVG(city) FROM release", "COUNT(*), with a condition on it", "SELECT COUNT(*) FROM release WHERE city = 'Ulm'"),
    ("SELECT AVG(city) FROM release", "AVG of a column of numbers", "SELECT AVG(age) FROM release"),
    ("SELECT COUNT(*) FROM release GROUP BY age / 10", "GROUP BY and the names of columns.", "SELECT COUNT(*) FROM release GROUP BY age"),
    ("SELECT COUNT(*) FROM release WHERE other.age > 3", "age, without a table.", "SELECT COUNT(*) FROM release WHERE age > 3"),
    ("SELECT COUNT(*) FROM release WHERE city ILIKE 'u%'", "LIKE, which tells", "SELECT COUNT(*) FROM release WHERE city LIKE 'U%'"),
]  # fmt: skip
KINDS = list(catalogue.KINDS)


@pytest.mark.parametrize(
    ("kind", "refused", "words", "followed"), [(kind, *case) for kind in KINDS for case in FOLLOWED]
)
def test_a_question_that_follows_the_advice_is_answered(kind, refused, words, followed):
    release = publish_kind(kind)
    with pytest.raises(RequestError) as refusal:
        release.query(refused)
    assert words in refusal.value.attempt
    assert release.query(followed) is not None
