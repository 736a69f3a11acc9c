"""A steward who uses the studio by Starlette's test client: opens the door, looks at screens, presses buttons."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the studio is an extra: pip install 'reticent[studio]'")

from starlette.testclient import TestClient

from reticent.studio.app import make_app
from reticent.studio.desk import Desk
from reticent.studio.guard import Keys
from reticent.studio.runs import Run

PORT = 8765
ADDRESS = f"http://127.0.0.1:{PORT}"


class Steward:
    """A browser that has opened the studio of a folder."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.desk = Desk.open(folder, **options)
        self.keys = Keys()
        self.app = make_app(self.desk, self.keys, lambda: PORT)
        self.client = TestClient(self.app, base_url=ADDRESS, headers={"Sec-Fetch-Site": "same-origin"})
        self.client.post("/enter", data={"token": self.keys.make_link()})

    def look(self, screen: str, status: int = 200) -> str:
        """Return the page of a screen."""
        response = self.client.get(f"{self.keys.prefix}/{screen}")
        assert response.status_code == status, response.text
        return response.text

    def press(self, place: str, action: str, /, *, status: int = 200, files: Any = None, **fields: Any) -> str:
        """Press a button; return the page that follows."""
        response = self.client.post(
            f"{self.keys.prefix}/{place}/{action}", data={"token": self.keys.form, **fields}, files=files
        )
        assert response.status_code == status, response.text
        return response.text

    def view(self, screen: str, view: str, **query: Any) -> Any:
        """Return the response of a part that is a page of its own."""
        return self.client.get(f"{self.keys.prefix}/{screen}/view/{view}", params=query)

    def wait(self, run: Run | None = None, seconds: float = 120.0) -> Run:
        """Wait for a run, by default the latest, and return it."""
        if run is None:
            run = list(self.desk.runs._runs.values())[-1]
        until = time.monotonic() + seconds
        while run.is_running and time.monotonic() < until:
            time.sleep(0.05)
        assert not run.is_running, f"{run.words} did not end"
        return run

    @property
    def job(self) -> Mapping[str, Any]:
        return self.desk.job_file.read_table()


def read_text(page: str) -> str:
    """Return the words of a page without its markup."""
    without = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", without)).strip()


def write_files(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
