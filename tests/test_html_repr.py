"""Objects in a notebook: small tables, no script, every text escaped, nothing beyond what the object prints."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import polars as pl
import pytest

import reticent as rt

NASTY = "<script>alert('x')</script>&\"quoted\""
ALLOWED = {"div", "p", "strong", "br", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "figure", "figcaption"}
DRAWN = {"svg", "line", "rect", "circle", "text", "path"}
PLACED = {
    "x",
    "y",
    "x1",
    "x2",
    "y1",
    "y2",
    "cx",
    "cy",
    "r",
    "dx",
    "d",
    "width",
    "height",
    "role",
    "text-anchor",
    "overflow",
    "aria-label",
    "aria-hidden",
}
COLOURED = {
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "font-size",
    "font-weight",
}


class Tags(HTMLParser):
    """The tags that stand open in the end, and all that were seen."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.open += [] if tag == "br" else [tag]
        self.names |= {name for name, _ in attrs}

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)
        self.names |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def shown() -> dict[str, object]:
    people = pl.DataFrame({"age": [20, 21, 22, 41, 42, 43] * 2, NASTY: ["a", "b"] * 6, "d": ["x", "y", NASTY] * 4})
    tree = [["a", NASTY, "*"], ["b", "south", "*"]]
    columns = {"age": rt.quasi(), NASTY: rt.quasi(hierarchy=tree), "d": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(3), rt.BetaLikeness(2)])
    release = rt.publish(job, frame=people)
    return {
        "Job": job,
        "Check": rt.check(job, frame=people),
        "Release": release,
        "Audit": rt.audit(release, source=people),
        "Hierarchy": rt.Hierarchy.from_rows(tree),
        "Attack": rt.attack(release, people, "naive-bayes"),
        "Background": rt.attack(release, people, "background", bandwidth=0.3, t=0.2),
        "Sweep": rt.sweep(job, frame=people, k=[2, 3]),
    }


NAMES = ("Job", "Check", "Release", "Audit", "Hierarchy", "Attack", "Background", "Sweep")


@pytest.mark.parametrize("name", NAMES)
def test_an_object_shows_itself_as_small_tables_without_script(shown, name):
    html = shown[name]._repr_html_()
    tags = Tags()
    tags.feed(html)
    assert not tags.open
    assert tags.seen <= ALLOWED | DRAWN
    assert tags.names <= {"style", "scope"} | PLACED | COLOURED, "no class: a notebook has not our style sheet"
    assert "<table" in html
    assert len(html) < 12_000
    assert NASTY not in html
    assert "http" not in html


def test_an_audit_an_attack_and_a_comparison_are_drawn(shown):
    people = pl.DataFrame({"age": [20 + row % 23 for row in range(120)], "d": ["flu", "cold", "gout"] * 40})
    job = rt.Job(columns={"age": rt.quasi(), "d": rt.sensitive()}, promises=[rt.KAnonymity(4)])
    comparison = rt.compare(job, frame=people, methods=["mondrian"], attacks=["naive-bayes"])
    for drawn, sentence in (
        (shown["Audit"], "What each column lost"),
        (shown["Attack"], "of the guesses are right"),
        (comparison, "loses"),
    ):
        html = drawn._repr_html_()
        tags = Tags()
        tags.feed(html)
        assert sentence in html and "<svg" in html
        assert "class" not in tags.names and not tags.open
        assert tags.seen <= ALLOWED | DRAWN
        assert "currentColor" in html, "a notebook's theme colours text and lines"


def test_a_name_with_markup_is_shown_as_it_reads(shown):
    for name in ("Job", "Release", "Hierarchy"):
        assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;&quot;quoted&quot;" in shown[name]._repr_html_()


@pytest.mark.parametrize("name", ["Job", "Check", "Release", "Audit", "Attack", "Background", "Sweep"])
def test_no_value_of_a_record_is_shown(name):
    """Each value here is nowhere but in the data: not in a column's name, a hierarchy or a number that is computed."""
    ages = [71003, 71103, 71203, 71303, 71403, 71503] * 2
    diseases = ["flu-7", "gout-7", "cold-7"] * 4
    people = pl.DataFrame({"age": ages, "d": diseases})
    job = rt.Job(columns={"age": rt.quasi(), "d": rt.sensitive()}, promises=[rt.KAnonymity(3)])
    release = rt.publish(job, frame=people)
    made = {
        "Job": lambda: job,
        "Check": lambda: rt.check(job, frame=people),
        "Release": lambda: release,
        "Audit": lambda: rt.audit(release, source=people),
        "Attack": lambda: rt.attack(release, people, "naive-bayes"),
        "Background": lambda: rt.attack(release, people, "background", bandwidth=0.3, t=0.2),
        "Sweep": lambda: rt.sweep(job, frame=people, k=[2, 3]),
    }
    html = made[name]()._repr_html_()
    assert not re.search(r"71,?[0-9]03|(flu|gout|cold)-7", html)


def test_a_source_with_a_password_is_not_shown():
    job = rt.Job(source="postgresql://bob:secretpw@db/x", columns={"age": "quasi"}, promises=rt.KAnonymity(3))
    assert "secretpw" not in job._repr_html_()


def test_a_long_table_is_cut_and_counted():
    columns = {f"c{at}": rt.quasi() for at in range(100)}
    html = rt.Job(columns=columns, promises=rt.KAnonymity(3))._repr_html_()
    assert "and 70 more" in html
    assert "c29" in html and "c30" not in html
