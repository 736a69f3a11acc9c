"""Advice that no test can follow, by module, each with the reason."""

from __future__ import annotations

UNFOLLOWED: dict[str, dict[str, str]] = {}
