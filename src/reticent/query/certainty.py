"""What is certain about answers and what is assumed, in one line, by the kind of the release and what the answers have.

`lower` and `upper` hold for every table that fits the release.  An estimate rests on an assumption, which the reader of each
kind states (`assumption`; of perturbed values nothing is assumed, since how they were redrawn is published), and an
interval on how values were drawn.  Where the assumption makes estimates err to one side, the reader says to which
(`leaning`), and every answer that rests on it says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from reticent.errors import pluralize
from reticent.estimate.answer import Answer
from reticent.estimate.source_values import is_coded
from reticent.format.manifest import Manifest
from reticent.html_repr import format_share
from reticent.release.kind import reader_for

CODED_ASSUMPTION = "values at a top or bottom are that end, and rounded ones lie evenly around"
LIKELIHOOD_ASSUMPTION = "people lie within their labels as all labels of a column together make likely"
BELOW_BOUNDS_REMARK = (
    "An estimate below `lower` is read as `lower`: estimates are made to be right on the average of all releases that "
    "could have been drawn, so some of them fall below what is possible."
)
ABOVE_BOUNDS_REMARK = (
    "An estimate above `upper` is read as `upper`: estimates are made to be right on the average of all releases that "
    "could have been drawn, so some of them fall above what is possible."
)
CUT_INTERVAL_REMARK = "An interval ends where what is possible does."
OUTSIDE_INTERVAL_REMARK = (
    "An interval that lies outside of `lower` and `upper` is of one of the few releases that are far off."
)


def describe_certainty(answers: Sequence[Answer], manifest: Manifest, names: Sequence[str]) -> str | None:
    """Describe in one line what is certain of some answers to a question and what is assumed; None if a note says why there are none.

    `names` are the columns that the question is about.
    """
    answered = [answer for answer in answers if not _is_null(answer)]
    if not answered:
        is_explained = any(answer.note for answer in answers)
        return None if is_explained else "Certain: nobody with a value there is selected, which SQL answers with NULL."
    uncertain = [answer for answer in answered if not answer.is_exact]
    if not uncertain:
        return (
            f"Exact: every table that fits the release has {'this answer' if len(answered) == 1 else 'these answers'}."
        )
    sentences = [_describe_bounds(answered)]
    if any(answer.std_error for answer in uncertain):
        level = format_share(uncertain[0].level)
        sentences.append(f"Random: {level} of such intervals, over all releases that could have been drawn, hold it.")
    if assumptions := _list_assumptions(uncertain, manifest, names):
        sentences.append(f"Assumed, for the estimate: {'; '.join(assumptions)}.")
    if leaning := describe_leaning(uncertain, manifest):
        sentences.append(leaning)
    return " ".join(sentences)


def describe_leaning(answers: Sequence[Answer], manifest: Manifest) -> str | None:
    """Describe to which side estimates of this kind err, where some of the answers rest on its assumption."""
    uncertain = [answer for answer in answers if not _is_null(answer) and not answer.is_exact]
    return getattr(reader_for(manifest.kind), "leaning", None) if _assumes_rows_alike(uncertain) else None


def list_interval_remarks(answer: Answer) -> list[str]:
    """List what is to be said of an estimate or an interval that leaves what is possible."""
    remarks: list[str] = []
    if not answer.std_error or answer.estimate is None:
        return remarks
    if answer.lower is not None and answer.estimate < answer.lower:
        remarks.append(BELOW_BOUNDS_REMARK)
    elif answer.upper is not None and answer.estimate > answer.upper:
        remarks.append(ABOVE_BOUNDS_REMARK)
    interval = answer.interval
    if interval is not None and interval != answer.unlimited_interval:
        remarks.append(CUT_INTERVAL_REMARK)
    elif interval is not None and _is_outside(answer, interval):
        remarks.append(OUTSIDE_INTERVAL_REMARK)
    return remarks


def _is_outside(answer: Answer, interval: tuple[float, float]) -> bool:
    is_below = answer.lower is not None and interval[1] < answer.lower
    return is_below or (answer.upper is not None and interval[0] > answer.upper)


def _is_null(answer: Answer) -> bool:
    return answer.estimate is None and answer.lower is None and answer.upper is None


def _describe_bounds(answers: Sequence[Answer]) -> str:
    has_lower = [answer.lower is not None for answer in answers]
    has_upper = [answer.upper is not None for answer in answers]
    if all(has_lower) and all(has_upper):
        exact = ", and is exact where these are equal" if any(answer.is_exact for answer in answers) else ""
        return f"Certain: the true answer lies from `lower` to `upper`{exact}."
    if not any(has_lower) and not any(has_upper):
        return "Nothing is certain: there are no bounds."
    if all(has_lower) and not any(has_upper):
        return "Certain: the true answer is `lower` at the least."
    if all(has_upper) and not any(has_lower):
        return "Certain: the true answer is `upper` at the most."
    return "Certain: the true answer is neither below `lower` nor above `upper`, where these are given."


def _list_assumptions(answers: Sequence[Answer], manifest: Manifest, names: Sequence[str]) -> list[str]:
    """List what estimates assume; of random ones, the notes of their kind say what is assumed beside."""
    assumptions: list[str | None] = []
    densities = {answer.density for answer in answers if not answer.std_error and _has_uncertain_rows(answer)}
    if "likelihood" in densities:
        assumptions.append(LIKELIHOOD_ASSUMPTION)
    elif densities:
        assumptions.append(getattr(reader_for(manifest.kind), "assumption", None))
    coded_names = {column.name for column in manifest.columns if is_coded(column)}
    if any(not answer.std_error for answer in answers):
        if manifest.withheld:
            rows = pluralize(manifest.withheld, "withheld row", "is", "are")
            assumptions.append(f"{rows} like those published")
        if coded_names & set(names):
            assumptions.append(CODED_ASSUMPTION)
    return [assumption for assumption in assumptions if assumption is not None]


def _assumes_rows_alike(answers: Sequence[Answer]) -> bool:
    """Tell whether an estimate rests on the assumption of the release's kind."""
    return any(not answer.std_error and _has_uncertain_rows(answer) for answer in answers)


def _has_uncertain_rows(answer: Answer) -> bool:
    """Tell whether published rows alone leave something open."""
    published = answer.published
    return published is None or not (published.is_exact or _is_null(published))
