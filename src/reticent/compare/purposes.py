"""What a release may be wanted for, and the figure of a comparison that decides for each purpose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Purpose:
    """The figure that decides, and whether less of it is better."""

    figure: str
    meaning: str
    less: bool = True
    learns: bool = False
    lacking: str = "no column holds numbers"  # why there may be no such figure


PURPOSES = {
    "counts": Purpose("count_error", "median relative error of COUNT questions"),
    "averages": Purpose("average_error", "median error of AVG questions, as a share of the column's span"),
    "classification": Purpose(
        "accuracy",
        "share of people not in the release whose class is told",
        less=False,
        learns=True,
        lacking="no classifier was taught",
    ),
    "sharing-rows": Purpose("row_loss", "share of a person's row that is not shown"),
}
