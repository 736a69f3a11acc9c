"""One line of the table that `make bench` prints: what was measured, against what, and the ratio asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Ours and the reference in one unit, measured in the same run."""

    ours: float
    reference: float
    against: str
    unit: str = "CPU s"
    at_most: float | None = None  # ours / reference
    at_least: float | None = None  # reference / ours: how many times better we are
    note: str = ""

    @property
    def ratio(self) -> float:
        over, under = (self.reference, self.ours) if self.at_least is not None else (self.ours, self.reference)
        return over / under if under else float("inf")

    @property
    def met(self) -> bool | None:
        """Whether the ratio is as asked; None where nothing is asked."""
        if self.at_most is not None:
            return self.ratio <= self.at_most
        return self.ratio >= self.at_least if self.at_least is not None else None

    @property
    def asked(self) -> str:
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return f">= {self.at_least:g}" if self.at_least is not None else ""
