"""The frontier of risk and loss as a picture: what was measured of each candidate and yardstick, for a notebook and the studio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.drawing.comparison_plots import MAX_METHODS, MethodMark, MethodSeries, Yardstick, draw_frontier
from reticent.drawing.plots import format_share


def find_row_loss(row: Mapping[str, Any]) -> float | None:
    return (row.get("row_loss") or {}).get("value")


def list_drawable(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """List the candidates that reach their promise and of which both loss and gain were measured."""
    return [
        row
        for row in rows
        if row["role"] == "candidate"
        and row["reached"]
        and find_row_loss(row) is not None
        and row.get("attack_gain") is not None
    ]


def draw_measured_frontier(rows: Sequence[Mapping[str, Any]], own: Mapping[str, Any] | None = None) -> str:
    """Draw candidates by what they lose and what an adversary gains, yardsticks beside them; empty where there is none.

    `own` is the row of the present job, which is ringed.  Rows have `attack_gain`.
    """
    drawable = list_drawable(rows)
    names = list(dict.fromkeys(row["method"] for row in drawable))[:MAX_METHODS]
    series = [
        MethodSeries(
            name,
            tuple(
                MethodMark(find_row_loss(row) or 0.0, row["attack_gain"], row is own)
                for row in drawable
                if row["method"] == name
            ),
        )
        for name in names
    ]
    trivial = [row for row in rows if row["role"] == "trivial" and row.get("attack_gain") is not None]
    yardsticks = [Yardstick(row["name"], find_row_loss(row) or 0.0, row["attack_gain"]) for row in trivial]
    return draw_frontier(series, yardsticks) if series else ""


def write_frontier_title(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write which candidate loses least, and which tells an adversary least."""
    drawable = list_drawable(rows)
    if not drawable:
        return "No method could be measured"
    least_loss = min(drawable, key=lambda row: find_row_loss(row) or 0.0)
    least_gain = min(drawable, key=lambda row: (row["attack_gain"], find_row_loss(row)))
    if len(drawable) == 1:
        lost = format_share(find_row_loss(least_loss) or 0.0)
        return (
            f"{least_loss['name']} loses {lost} of a row; an adversary gains {format_share(least_loss['attack_gain'])}"
        )
    if least_loss is least_gain:
        return f"{least_loss['name']} loses least, and tells an adversary least"
    return f"{least_loss['name']} loses least; {least_gain['name']} tells an adversary least"
